PRAGMA application_id = 1684632419;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE accounts (
        name TEXT PRIMARY KEY,
        terms TEXT NOT NULL,
        main_limit TEXT NOT NULL,
        square_limit TEXT NOT NULL,
        delta_limit TEXT NOT NULL,
        main TEXT NOT NULL CHECK (length(main) = 64 AND main NOT GLOB '*[^0-9]*'),
        square TEXT NOT NULL CHECK (length(square) = 64 AND square NOT GLOB '*[^0-9]*'),
        delta TEXT NOT NULL CHECK (length(delta) = 64 AND delta NOT GLOB '*[^0-9]*'),
        sequence INTEGER NOT NULL,
        CHECK (delta <= delta_limit AND (main <= main_limit OR square <= square_limit))
    ) STRICT;
INSERT INTO "accounts" VALUES('people','{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"}','0000000000000002000000000000000000000000000000000000000000000000','','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000800000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000',9);
INSERT INTO "accounts" VALUES('people/rest','{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"}','0000000000000002000000000000000000000000000000000000000000000000','','0000000000000000000000000000000000000000000000000000000000000000','0000000000000001050000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000',9);
INSERT INTO "accounts" VALUES('people/share/ann','{"budget":{"epsilon":"3/4","notion":"PureDP","relation":"add/remove"},"rule":"basic"}','0000000000000000750000000000000000000000000000000000000000000000','','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000500000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000',8);
CREATE TABLE charges (
        id INTEGER PRIMARY KEY,
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        question TEXT NOT NULL,
        owner TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('charged', 'answered', 'abandoned')),
        answer BLOB,
        CHECK ((state = 'answered') = (answer IS NOT NULL))
    ) STRICT;
INSERT INTO "charges" VALUES(3,'people','owner','2033df31cd60b69c3fb98e69082670dd8e96d7ad0d259dd88f39b26851676b95','owner-fb6bf1a36bf267708150b78e4ca1dbf8','answered',X'6F6E65');
INSERT INTO "charges" VALUES(6,'people','ann','0e9852d5c457838763c5a2249cac1b983c26b7834ca0e2dbc6ee0b59811e0d6b','owner-fb6bf1a36bf267708150b78e4ca1dbf8','answered',X'68657273');
INSERT INTO "charges" VALUES(9,'people','bob','7b1b58a097ea8f27a5b702f21a6d9a886650aa31170e8c289433ed76ce8ae072','owner-fb6bf1a36bf267708150b78e4ca1dbf8','answered',X'686973');
CREATE TABLE datasets (
        name TEXT PRIMARY KEY,
        declaration TEXT NOT NULL
    ) STRICT;
INSERT INTO "datasets" VALUES('people','{"answers":"own","dataset":"people","limits":{},"per_analyst":null,"per_question":null,"rule":{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"schema":"","unit":"person","version":"1"}');
CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        body TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT;
INSERT INTO "entries" VALUES(1,'0000000000000000000000000000000000000000000000000000000000000000','{"dataset":"people","declaration":{"answers":"own","dataset":"people","limits":{},"per_analyst":null,"per_question":null,"rule":{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"schema":"","unit":"person","version":"1"},"kind":"dataset","other_people":null,"time":"2026-11-16T18:29:59+00:00"}','c6dfed94165b0b4585c4d229c24e41bf6996d989eac96863ec87259b0d2f35f0');
INSERT INTO "entries" VALUES(2,'c6dfed94165b0b4585c4d229c24e41bf6996d989eac96863ec87259b0d2f35f0','{"account":"people","kind":"account","rule":{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:29:59+00:00"}','1dbeb99f6caa0f5fb08c19fc904a1e88981d70a84ad89407186a22fadbcc7e71');
INSERT INTO "entries" VALUES(3,'1dbeb99f6caa0f5fb08c19fc904a1e88981d70a84ad89407186a22fadbcc7e71','{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 1","time":"2026-11-16T18:29:59+00:00","totals":{"people":["0.1","0","0"]},"version":"1"}','23fed6a55d1df652fd8a8924528eb9e3750432f3df916db7543998fe178da1f7');
INSERT INTO "entries" VALUES(4,'23fed6a55d1df652fd8a8924528eb9e3750432f3df916db7543998fe178da1f7','{"charge":3,"digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","kind":"answered"}','a4cf28c28819a0fb197c435d8ca7939b7fde24f66c6cb5eac162790bb03c3b6c');
INSERT INTO "entries" VALUES(5,'a4cf28c28819a0fb197c435d8ca7939b7fde24f66c6cb5eac162790bb03c3b6c','{"analyst":"ann","dataset":"people","kind":"share","reason":"her study","rule":{"budget":{"epsilon":"1","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:29:59+00:00"}','57b647d80d9b1b4d2a02782a0286df0231c08e0cdba207b6c8c42b2bdd4025ca');
INSERT INTO "entries" VALUES(6,'57b647d80d9b1b4d2a02782a0286df0231c08e0cdba207b6c8c42b2bdd4025ca','{"analyst":"ann","costs":{"people":["0.5","0","0"],"people/share/ann":["0.5","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/2","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 1","time":"2026-11-16T18:29:59+00:00","totals":{"people":["0.6","0","0"],"people/share/ann":["0.5","0","0"]},"version":"1"}','5d6df0d5c2bcf9a94f44ba272cfd6b60e63a8199d59693541e88431029a00037');
INSERT INTO "entries" VALUES(7,'5d6df0d5c2bcf9a94f44ba272cfd6b60e63a8199d59693541e88431029a00037','{"charge":6,"digest":"7282dc5a2015eca4afb897f24924b2a9c149287a5d3e755c52ec0ab7b81e7454","kind":"answered"}','6fa4cb818997567766fa0305e2159ec87f0eef574976f9da1b6f920d2c5ebb39');
INSERT INTO "entries" VALUES(8,'6fa4cb818997567766fa0305e2159ec87f0eef574976f9da1b6f920d2c5ebb39','{"analyst":"ann","dataset":"people","kind":"share","reason":"less is enough","rule":{"budget":{"epsilon":"3/4","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:29:59+00:00"}','dfdd618e3e3e0a252030eeb1e79bd46fb99084d785e7df9aedb2a903a7b65777');
INSERT INTO "entries" VALUES(9,'dfdd618e3e3e0a252030eeb1e79bd46fb99084d785e7df9aedb2a903a7b65777','{"analyst":"bob","costs":{"people":["0.2","0","0"],"people/rest":["0.2","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/5","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 2","time":"2026-11-16T18:29:59+00:00","totals":{"people":["0.8","0","0"],"people/rest":["1.05","0","0"]},"version":"1"}','5bc300ddfe63c583f38dc5f480d2b29e8c308c2f429d30decc7783e221bf26c9');
INSERT INTO "entries" VALUES(10,'5bc300ddfe63c583f38dc5f480d2b29e8c308c2f429d30decc7783e221bf26c9','{"charge":9,"digest":"73c9c98668a34c54d131ff609d0bf129068d1b5ed3efd7cdfe753f909596456c","kind":"answered"}','212d77c5de37a28880327aad33575ea464ab847071f2a40e40ec0b04696c4c4e');
CREATE TABLE head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        sequence INTEGER NOT NULL,
        digest TEXT NOT NULL,
        seal TEXT NOT NULL
    ) STRICT;
INSERT INTO "head" VALUES(1,10,'212d77c5de37a28880327aad33575ea464ab847071f2a40e40ec0b04696c4c4e','');
CREATE TABLE keys (
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        key TEXT NOT NULL,
        request TEXT NOT NULL,
        charge INTEGER NOT NULL,
        PRIMARY KEY (dataset, analyst, key)
    ) STRICT, WITHOUT ROWID;
CREATE INDEX stored_answers ON charges (dataset, question) WHERE state = 'answered' AND question <> '';
CREATE INDEX running_charges ON charges (dataset) WHERE state = 'charged';
COMMIT;
