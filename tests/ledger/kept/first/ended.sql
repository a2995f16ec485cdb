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
INSERT INTO "accounts" VALUES('people','{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"}','0000000000000002000000000000000000000000000000000000000000000000','','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000300000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000',6);
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
INSERT INTO "charges" VALUES(3,'people','owner','2033df31cd60b69c3fb98e69082670dd8e96d7ad0d259dd88f39b26851676b95','owner-8d10f270c8ba5a7d6a269d5254f8c980','abandoned',NULL);
INSERT INTO "charges" VALUES(5,'people','owner','8981f08ff45510bc11d1a356c8e4659a8794919c157e0ed9e0af89acc6855c25','owner-8d10f270c8ba5a7d6a269d5254f8c980','charged',NULL);
INSERT INTO "charges" VALUES(6,'people','owner','f65d304f8e41213fc1d2e62eb55a31dbcb117a85f54a5e5d5e14797ee483ab9e','owner-8d10f270c8ba5a7d6a269d5254f8c980','charged',NULL);
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
INSERT INTO "entries" VALUES(1,'0000000000000000000000000000000000000000000000000000000000000000','{"dataset":"people","declaration":{"answers":"own","dataset":"people","limits":{},"per_analyst":null,"per_question":null,"rule":{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"schema":"","unit":"person","version":"1"},"kind":"dataset","other_people":null,"time":"2026-11-16T18:30:00+00:00"}','6772fdc3053f8b54047794f8f646b2a8ea7fdb5e20e6e36b377cf2e2462d5d5d');
INSERT INTO "entries" VALUES(2,'6772fdc3053f8b54047794f8f646b2a8ea7fdb5e20e6e36b377cf2e2462d5d5d','{"account":"people","kind":"account","rule":{"budget":{"epsilon":"2","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:30:00+00:00"}','1785d7b8fd8ab7a3bbf4cf4b71d36561715b4ea13058fadbfc1d8b44e5ffc1b4');
INSERT INTO "entries" VALUES(3,'1785d7b8fd8ab7a3bbf4cf4b71d36561715b4ea13058fadbfc1d8b44e5ffc1b4','{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 1","time":"2026-11-16T18:30:00+00:00","totals":{"people":["0.1","0","0"]},"version":"1"}','4b58361c12aeab2c6e41db30775d5cba2e15c72ac345f611422d57b23794a423');
INSERT INTO "entries" VALUES(4,'4b58361c12aeab2c6e41db30775d5cba2e15c72ac345f611422d57b23794a423','{"charge":3,"digest":"","kind":"abandoned"}','f60258097ec55b2919925b9eac14ecb6fb4add7532cbff61323af764e4661b98');
INSERT INTO "entries" VALUES(5,'f60258097ec55b2919925b9eac14ecb6fb4add7532cbff61323af764e4661b98','{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 2","time":"2026-11-16T18:30:00+00:00","totals":{"people":["0.2","0","0"]},"version":"1"}','080382b9eeab7d3e0780f38a30963defe1e8bd6402a1501a78a88eda6737a765');
INSERT INTO "entries" VALUES(6,'080382b9eeab7d3e0780f38a30963defe1e8bd6402a1501a78a88eda6737a765','{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 3","time":"2026-11-16T18:30:00+00:00","totals":{"people":["0.3","0","0"]},"version":"1"}','f712c48cfc42196e5a85257c3df5eb86c025783818107a6d753fb10c5ec013a7');
CREATE TABLE head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        sequence INTEGER NOT NULL,
        digest TEXT NOT NULL,
        seal TEXT NOT NULL
    ) STRICT;
INSERT INTO "head" VALUES(1,6,'f712c48cfc42196e5a85257c3df5eb86c025783818107a6d753fb10c5ec013a7','');
CREATE TABLE keys (
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        key TEXT NOT NULL,
        request TEXT NOT NULL,
        charge INTEGER NOT NULL,
        PRIMARY KEY (dataset, analyst, key)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "keys" VALUES('people','owner','given up','2033df31cd60b69c3fb98e69082670dd8e96d7ad0d259dd88f39b26851676b95',3);
INSERT INTO "keys" VALUES('people','owner','unfinished','f65d304f8e41213fc1d2e62eb55a31dbcb117a85f54a5e5d5e14797ee483ab9e',6);
CREATE INDEX stored_answers ON charges (dataset, question) WHERE state = 'answered' AND question <> '';
CREATE INDEX running_charges ON charges (dataset) WHERE state = 'charged';
COMMIT;
