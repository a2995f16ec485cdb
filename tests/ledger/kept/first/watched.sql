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
INSERT INTO "accounts" VALUES('people','{"budget":{"delta":"1/100","epsilon":"2","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"}','0000000000000002000000000000000000000000000000000000000000000000','','0000000000000000010000000000000000000000000000000000000000000000','0000000000000000095119933275406294659101321349578035449672821926','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000',3);
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
INSERT INTO "charges" VALUES(3,'people','owner','','owner-b0bee2a2009bc6a00d585e78c8b4063b','charged',NULL);
CREATE TABLE datasets (
        name TEXT PRIMARY KEY,
        declaration TEXT NOT NULL
    ) STRICT;
INSERT INTO "datasets" VALUES('people','{"answers":"own","dataset":"people","limits":{"people":"2 groups, 2 rows"},"per_analyst":null,"per_question":null,"rule":{"budget":{"delta":"1/100","epsilon":"2","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},"schema":"a1dccc41f23d9b3aba40c957d81877f1c25e4eb13eccb9ce32b853f0f9f662a8","unit":"people: each person","version":"1"}');
CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        body TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT;
INSERT INTO "entries" VALUES(1,'0000000000000000000000000000000000000000000000000000000000000000','{"dataset":"people","declaration":{"answers":"own","dataset":"people","limits":{"people":"2 groups, 2 rows"},"per_analyst":null,"per_question":null,"rule":{"budget":{"delta":"1/100","epsilon":"2","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},"schema":"a1dccc41f23d9b3aba40c957d81877f1c25e4eb13eccb9ce32b853f0f9f662a8","unit":"people: each person","version":"1"},"kind":"dataset","other_people":null,"time":"2026-11-16T18:29:59+00:00"}','fa4d3b2f7203cd60a7223f9392f4c650922c98c0129a44be99400be30377c4dc');
INSERT INTO "entries" VALUES(2,'fa4d3b2f7203cd60a7223f9392f4c650922c98c0129a44be99400be30377c4dc','{"account":"people","kind":"account","rule":{"budget":{"delta":"1/100","epsilon":"2","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:29:59+00:00"}','2b3eca8c0dbf3e9e9298abd43f563f406a834260fdc75800a6e61b63fe50c5c9');
INSERT INTO "entries" VALUES(3,'2b3eca8c0dbf3e9e9298abd43f563f406a834260fdc75800a6e61b63fe50c5c9','{"analyst":"owner","costs":{"people":["0.095119933275406294659101321349578035449672821926","0","0"]},"dataset":"people","kind":"charge","loss":{"relation":"add/remove","terms":[{"count":2,"epsilon":"281474976710656/5918317370885555","family":"pure"}]},"policy":"291e1379c3b8d57157968eac477a4a0148ea88c702be4fd23eab3d6a1cbaa5d8","price":null,"question":null,"time":"2026-11-16T18:29:59+00:00","totals":{"people":["0.095119933275406294659101321349578035449672821926","0","0"]},"version":"1"}','edd7cb71727eecca1e40119be64f50d9069d21a3d1f9c8a6a76cd876c95d50fe');
CREATE TABLE head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        sequence INTEGER NOT NULL,
        digest TEXT NOT NULL,
        seal TEXT NOT NULL
    ) STRICT;
INSERT INTO "head" VALUES(1,3,'edd7cb71727eecca1e40119be64f50d9069d21a3d1f9c8a6a76cd876c95d50fe','');
CREATE TABLE keys (
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        key TEXT NOT NULL,
        request TEXT NOT NULL,
        charge INTEGER NOT NULL,
        PRIMARY KEY (dataset, analyst, key)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "keys" VALUES('people','owner','a watch','a065b1861ac4b08d75ee55471077560fef4e91e22c2b924323d800539724ba28',3);
CREATE INDEX stored_answers ON charges (dataset, question) WHERE state = 'answered' AND question <> '';
CREATE INDEX running_charges ON charges (dataset) WHERE state = 'charged';
COMMIT;
