SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA kept;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE kept.accounts (
    name text NOT NULL COLLATE pg_catalog."C",
    terms text NOT NULL COLLATE pg_catalog."C",
    main_limit text NOT NULL COLLATE pg_catalog."C",
    square_limit text NOT NULL COLLATE pg_catalog."C",
    delta_limit text NOT NULL COLLATE pg_catalog."C",
    main text NOT NULL COLLATE pg_catalog."C",
    square text NOT NULL COLLATE pg_catalog."C",
    delta text NOT NULL COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    CONSTRAINT accounts_check CHECK (((delta <= delta_limit) AND ((main <= main_limit) OR (square <= square_limit)))),
    CONSTRAINT accounts_delta_check CHECK ((delta ~ '^[0-9]{64}$'::text)),
    CONSTRAINT accounts_main_check CHECK ((main ~ '^[0-9]{64}$'::text)),
    CONSTRAINT accounts_square_check CHECK ((square ~ '^[0-9]{64}$'::text))
);
CREATE TABLE kept.charges (
    id bigint NOT NULL,
    dataset text NOT NULL COLLATE pg_catalog."C",
    analyst text NOT NULL COLLATE pg_catalog."C",
    question text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    answer bytea,
    CONSTRAINT charges_check CHECK (((state = 'answered'::text) = (answer IS NOT NULL))),
    CONSTRAINT charges_state_check CHECK ((state = ANY (ARRAY['charged'::text, 'answered'::text, 'abandoned'::text])))
);
CREATE TABLE kept.datasets (
    name text NOT NULL COLLATE pg_catalog."C",
    declaration text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE kept.entries (
    sequence bigint NOT NULL,
    previous text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE kept.head (
    id integer NOT NULL,
    sequence bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    seal text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT head_id_check CHECK ((id = 1))
);
CREATE TABLE kept.keys (
    dataset text NOT NULL COLLATE pg_catalog."C",
    analyst text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    request text NOT NULL COLLATE pg_catalog."C",
    charge bigint NOT NULL
);
CREATE TABLE kept.version (
    id integer NOT NULL,
    number integer NOT NULL,
    CONSTRAINT version_id_check CHECK ((id = 1))
);
INSERT INTO kept.accounts VALUES ('people/rest', '{"budget":{"delta":"1/100","epsilon":"3","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"}', '0000000000000003000000000000000000000000000000000000000000000000', '', '0000000000000000010000000000000000000000000000000000000000000000', '0000000000000001200000000000000000000000000000000000000000000000', '0000000000000000000000000000000000000000000000000000000000000000', '0000000000000000001000000000000000000000000000000000000000000000', 8);
INSERT INTO kept.accounts VALUES ('people', '{"budget":{"delta":"1/100","epsilon":"3","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"}', '0000000000000003000000000000000000000000000000000000000000000000', '', '0000000000000000010000000000000000000000000000000000000000000000', '0000000000000000700000000000000000000000000000000000000000000000', '0000000000000000000000000000000000000000000000000000000000000000', '0000000000000000000000000000000000000000000000000000000000000000', 9);
INSERT INTO kept.accounts VALUES ('people/share/ann', '{"budget":{"delta":"1/1000","epsilon":"1","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"}', '0000000000000001000000000000000000000000000000000000000000000000', '', '0000000000000000001000000000000000000000000000000000000000000000', '0000000000000000500000000000000000000000000000000000000000000000', '0000000000000000000000000000000000000000000000000000000000000000', '0000000000000000000000000000000000000000000000000000000000000000', 9);
INSERT INTO kept.charges VALUES (3, 'people', 'owner', '2033df31cd60b69c3fb98e69082670dd8e96d7ad0d259dd88f39b26851676b95', 'owner-2e768cf333f5e4b3', 'answered', '\x6f6e65');
INSERT INTO kept.charges VALUES (5, 'people', 'owner', '8981f08ff45510bc11d1a356c8e4659a8794919c157e0ed9e0af89acc6855c25', 'owner-2e768cf333f5e4b3', 'abandoned', NULL);
INSERT INTO kept.charges VALUES (9, 'people', 'ann', 'ce6b28b3fb3b4e260e4056c75a9e9f1022e05b9cc2b2a6e27db04b9de61c2940', 'owner-2e768cf333f5e4b3', 'answered', '\x68657273');
INSERT INTO kept.datasets VALUES ('people', '{"answers":"own","dataset":"people","limits":{},"per_analyst":null,"per_question":null,"rule":{"budget":{"delta":"1/100","epsilon":"3","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},"schema":"","unit":"person","version":"1"}');
INSERT INTO kept.entries VALUES (1, '0000000000000000000000000000000000000000000000000000000000000000', '{"dataset":"people","declaration":{"answers":"own","dataset":"people","limits":{},"per_analyst":null,"per_question":null,"rule":{"budget":{"delta":"1/100","epsilon":"2","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},"schema":"","unit":"person","version":"1"},"kind":"dataset","other_people":null,"time":"2026-11-16T18:30:08+00:00"}', 'b6908fbee398c225243b04dab7013a01696cd15c1bec83bcba97eb7f1a655729');
INSERT INTO kept.entries VALUES (2, 'b6908fbee398c225243b04dab7013a01696cd15c1bec83bcba97eb7f1a655729', '{"account":"people","kind":"account","rule":{"budget":{"delta":"1/100","epsilon":"2","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:30:08+00:00"}', '3d20de553b07776786df0a1a60abacae855cd2a35de0cdee28672bf43fe78b35');
INSERT INTO kept.entries VALUES (3, '3d20de553b07776786df0a1a60abacae855cd2a35de0cdee28672bf43fe78b35', '{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 1","time":"2026-11-16T18:30:08+00:00","totals":{"people":["0.1","0","0"]},"version":"1"}', '669f63f53caa96a856a2f73e565adfc95286bef2397101b863fcb80a2be89c63');
INSERT INTO kept.entries VALUES (4, '669f63f53caa96a856a2f73e565adfc95286bef2397101b863fcb80a2be89c63', '{"charge":3,"digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","kind":"answered"}', '2d805eeed3aa9c04e82b06d7d8ab1d42236f259eaa2d99e1d0f03731f6ad83c6');
INSERT INTO kept.entries VALUES (5, '2d805eeed3aa9c04e82b06d7d8ab1d42236f259eaa2d99e1d0f03731f6ad83c6', '{"analyst":"owner","costs":{"people":["0.1","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/10","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 2","time":"2026-11-16T18:30:08+00:00","totals":{"people":["0.2","0","0"]},"version":"1"}', '4704739242a4ffcfc0a704838b2693b3462da027bcd35a4c8f096d59539c6cec');
INSERT INTO kept.entries VALUES (6, '4704739242a4ffcfc0a704838b2693b3462da027bcd35a4c8f096d59539c6cec', '{"charge":5,"digest":"","kind":"abandoned"}', 'd97cbc65cb369f3b380a9289b94965a17a4ea03a0484310c2134953c68e00cd7');
INSERT INTO kept.entries VALUES (7, 'd97cbc65cb369f3b380a9289b94965a17a4ea03a0484310c2134953c68e00cd7', '{"analyst":"ann","dataset":"people","kind":"share","reason":"her study","rule":{"budget":{"delta":"1/1000","epsilon":"1","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},"time":"2026-11-16T18:30:08+00:00"}', '30576f785f8fba8608ed1906bdd3e8fec37bd24233a062e932da1ee0d8721c2e');
INSERT INTO kept.entries VALUES (8, '30576f785f8fba8608ed1906bdd3e8fec37bd24233a062e932da1ee0d8721c2e', '{"changed":{"rule":[{"budget":{"delta":"1/100","epsilon":"2","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"},{"budget":{"delta":"1/100","epsilon":"3","notion":"ApproxDP","relation":"add/remove"},"rule":"basic"}]},"dataset":"people","kind":"owner","reason":"more was granted","time":"2026-11-16T18:30:09+00:00"}', '4b5d2a628438edb3ca742c7d2f77499b6bb42e180ea0a209d45b42ed84d8a5df');
INSERT INTO kept.entries VALUES (9, '4b5d2a628438edb3ca742c7d2f77499b6bb42e180ea0a209d45b42ed84d8a5df', '{"analyst":"ann","costs":{"people":["0.5","0","0"],"people/share/ann":["0.5","0","0"]},"dataset":"people","kind":"charge","loss":{"epsilon":"1/2","notion":"PureDP","relation":"add/remove"},"policy":"","price":null,"question":"SELECT 3","time":"2026-11-16T18:30:09+00:00","totals":{"people":["0.7","0","0"],"people/share/ann":["0.5","0","0"]},"version":"1"}', 'ba48382d49088e47b5dea91f12e722642247d2a688fc0a5c4ebbaa46eb4a9cc7');
INSERT INTO kept.entries VALUES (10, 'ba48382d49088e47b5dea91f12e722642247d2a688fc0a5c4ebbaa46eb4a9cc7', '{"charge":9,"digest":"7282dc5a2015eca4afb897f24924b2a9c149287a5d3e755c52ec0ab7b81e7454","kind":"answered"}', '1c63daee7916abf3bed60775c4ff6bd496e9f02d2b67eeb4d125a63e8d48d90f');
INSERT INTO kept.head VALUES (1, 10, '1c63daee7916abf3bed60775c4ff6bd496e9f02d2b67eeb4d125a63e8d48d90f', '');
INSERT INTO kept.keys VALUES ('people', 'owner', 'first', '2033df31cd60b69c3fb98e69082670dd8e96d7ad0d259dd88f39b26851676b95', 3);
INSERT INTO kept.version VALUES (1, 1);
ALTER TABLE ONLY kept.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (name);
ALTER TABLE ONLY kept.charges
    ADD CONSTRAINT charges_pkey PRIMARY KEY (id);
ALTER TABLE ONLY kept.datasets
    ADD CONSTRAINT datasets_pkey PRIMARY KEY (name);
ALTER TABLE ONLY kept.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY kept.head
    ADD CONSTRAINT head_pkey PRIMARY KEY (id);
ALTER TABLE ONLY kept.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (dataset, analyst, key);
ALTER TABLE ONLY kept.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (id);
CREATE INDEX running_charges ON kept.charges USING btree (dataset) WHERE (state = 'charged'::text);
CREATE INDEX stored_answers ON kept.charges USING btree (dataset, question) WHERE ((state = 'answered'::text) AND (question <> ''::text));
