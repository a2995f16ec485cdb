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
INSERT INTO "accounts" VALUES('people','{"budget":{"epsilon":"3","notion":"PureDP","relation":"add/remove"},"rule":"basic"}','0000000000000003000000000000000000000000000000000000000000000000','','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000300000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000','0000000000000000000000000000000000000000000000000000000000000000',10);
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
INSERT INTO "charges" VALUES(3,'people','owner','2033df31cd60b69c3fb98e69082670dd8e96d7ad0d259dd88f39b26851676b95','owner-6731ffed6ebb91acf6903ddd3d50a2d1','answered',X'6F6E65');
INSERT INTO "charges" VALUES(7,'people','owner','51933fb9283820f5fcf1ca7172afa8f6f101f9678e46926ad1cc189207246792','owner-6731ffed6ebb91acf6903ddd3d50a2d1','answered',X'6F6E6520616761696E');
INSERT INTO "charges" VALUES(10,'people','owner','ab87fb38cefc2442698e9a80d5985faaedcffb4c82f3ae712e1af771288ea2c8','owner-6731ffed6ebb91acf6903ddd3d50a2d1','answered',X'74776F');
CREATE TABLE datasets (
        name TEXT PRIMARY KEY,
        declaration TEXT NOT NULL
    ) STRICT;
INSERT INTO "datasets" VALUES('people','{"answers":"own","dataset":"people","limits":{},"per_analyst":null,"per_question":null,"rule":{"budget":{"epsilon":"3","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"schema":"","unit":"household","version":"2"}');
CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        body TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT;
INSERT INTO "entries" VALUES(1,'0000000000000000000000000000000000000000000000000000000000000000','{"dataset":"people","declaration":{"answers":"own","dataset":"people","limits":{},"per_analyst":null,"per_question":null,"rule":{"budget":{"epsilon":"1","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"schema":"","unit":"person","version":"1"},"kind":"dataset","other_people":null,"time":"2026-11-16T18:29:59+00:00"}','b0b69d73ae62fd9edceb2007dc96e716ab072ac1ce23fcfedd205ff6f74600b1');
INSERT INTO "entries" VALUES(2,'b0b69d73ae62fd9edceb2007dc96e716ab072ac1ce23fcfedd205ff6f74600b1','{"account":"people","kind":"account","rule":{"budget":{"epsilon":"1","notion":"PureDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:29:59+00:00"}','2895042f24b6b84d6200061245db1eda3c70df2586f403966001a3a885cbdc08');
INSERT INTO "entries" VALUES(3,'2895042f24b6b84d6200061245db1eda3c70df2586f403966001a3a885cbdc08','{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 1","time":"2026-11-16T18:29:59+00:00","totals":{"people":["0.1","0","0"]},"version":"1"}','7a374ff2cfc44dd1a965de336ce0667d8af81e61c67ab6a43c8975cb45542e08');
INSERT INTO "entries" VALUES(4,'7a374ff2cfc44dd1a965de336ce0667d8af81e61c67ab6a43c8975cb45542e08','{"charge":3,"digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","kind":"answered"}','d37c98d6bcf2f03eb90481f83c4d5ff2db9fbf3f67def32f488634d575822e40');
INSERT INTO "entries" VALUES(5,'d37c98d6bcf2f03eb90481f83c4d5ff2db9fbf3f67def32f488634d575822e40','{"changed":{"rule":[{"budget":{"epsilon":"1","notion":"PureDP","relation":"add/remove"},"rule":"basic"},{"budget":{"epsilon":"3","notion":"PureDP","relation":"add/remove"},"rule":"basic"}]},"dataset":"people","kind":"owner","reason":"more was granted","time":"2026-11-16T18:29:59+00:00"}','86844d51a00adbfab0aa386b65f7a8df2c70b80ede3df89263bf55913570b5a7');
INSERT INTO "entries" VALUES(6,'86844d51a00adbfab0aa386b65f7a8df2c70b80ede3df89263bf55913570b5a7','{"changed":{"version":["1","2"]},"dataset":"people","kind":"owner","reason":"new data","time":"2026-11-16T18:29:59+00:00"}','1307aa125e47bebf674bb7a20321efb316eecb0d176c2b61d76299c352e16e8e');
INSERT INTO "entries" VALUES(7,'1307aa125e47bebf674bb7a20321efb316eecb0d176c2b61d76299c352e16e8e','{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 1","time":"2026-11-16T18:29:59+00:00","totals":{"people":["0.2","0","0"]},"version":"2"}','84cbc0d558d91bd7d385976c29bf12f7dbf38ef7081e5715fb4a6e0d0c6bccb8');
INSERT INTO "entries" VALUES(8,'84cbc0d558d91bd7d385976c29bf12f7dbf38ef7081e5715fb4a6e0d0c6bccb8','{"charge":7,"digest":"327a74884048882ce7f96e21a14ae3925910e63243b17c8faef45724a0140046","kind":"answered"}','a3d8dea2b11916b4bdd798444c0014703b84b073008c39c313f98c818273a8db');
INSERT INTO "entries" VALUES(9,'a3d8dea2b11916b4bdd798444c0014703b84b073008c39c313f98c818273a8db','{"changed":{"unit":["person","household"]},"dataset":"people","kind":"owner","reason":"households are protected","time":"2026-11-16T18:29:59+00:00"}','d0b7e0f229f4699795571ccf571249c1d1edfa35e84aec394c27e3a46a65c12a');
INSERT INTO "entries" VALUES(10,'d0b7e0f229f4699795571ccf571249c1d1edfa35e84aec394c27e3a46a65c12a','{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 2","time":"2026-11-16T18:29:59+00:00","totals":{"people":["0.3","0","0"]},"version":"2"}','b74764cfb3281d241648238c032613bcc0f073a149ae11b261ba0c63ca5ad971');
INSERT INTO "entries" VALUES(11,'b74764cfb3281d241648238c032613bcc0f073a149ae11b261ba0c63ca5ad971','{"charge":10,"digest":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","kind":"answered"}','c5223507f58a86b3966d7fa38cd31403b435c5aebd039cf35b5df6a9c88dfcd4');
CREATE TABLE head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        sequence INTEGER NOT NULL,
        digest TEXT NOT NULL,
        seal TEXT NOT NULL
    ) STRICT;
INSERT INTO "head" VALUES(1,11,'c5223507f58a86b3966d7fa38cd31403b435c5aebd039cf35b5df6a9c88dfcd4','');
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
