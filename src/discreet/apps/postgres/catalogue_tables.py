"""PostgreSQL's system tables, as far as clients read them: columns, views over them, and functions."""
# ruff: noqa: E501  lists of columns read better unbroken

FILLED = {
    "pg_namespace": "oid UINTEGER, nspname VARCHAR, nspowner UINTEGER, nspacl VARCHAR[]",
    "pg_class": (
        "oid UINTEGER, relname VARCHAR, relnamespace UINTEGER, reltype UINTEGER, reloftype UINTEGER, "
        "relowner UINTEGER, relam UINTEGER, relfilenode UINTEGER, reltablespace UINTEGER, relpages INTEGER, "
        "reltuples DOUBLE, relallvisible INTEGER, reltoastrelid UINTEGER, relhasindex BOOLEAN, "
        "relisshared BOOLEAN, relpersistence VARCHAR, relkind VARCHAR, relnatts SMALLINT, relchecks SMALLINT, "
        "relhasrules BOOLEAN, relhastriggers BOOLEAN, relhassubclass BOOLEAN, relrowsecurity BOOLEAN, "
        "relforcerowsecurity BOOLEAN, relispopulated BOOLEAN, relreplident VARCHAR, relispartition BOOLEAN, "
        "relrewrite UINTEGER, relacl VARCHAR[], reloptions VARCHAR[], relpartbound VARCHAR"
    ),
    "pg_attribute": (
        "attrelid UINTEGER, attname VARCHAR, atttypid UINTEGER, attstattarget INTEGER, attlen SMALLINT, "
        "attnum SMALLINT, attndims INTEGER, attcacheoff INTEGER, atttypmod INTEGER, attbyval BOOLEAN, "
        "attstorage VARCHAR, attalign VARCHAR, attcompression VARCHAR, attnotnull BOOLEAN, atthasdef BOOLEAN, "
        "atthasmissing BOOLEAN, attidentity VARCHAR, attgenerated VARCHAR, attisdropped BOOLEAN, "
        "attislocal BOOLEAN, attinhcount INTEGER, attcollation UINTEGER, attacl VARCHAR[], "
        "attoptions VARCHAR[], attfdwoptions VARCHAR[], attmissingval VARCHAR"
    ),
    "pg_type": (
        "oid UINTEGER, typname VARCHAR, typnamespace UINTEGER, typowner UINTEGER, typlen SMALLINT, "
        "typbyval BOOLEAN, typtype VARCHAR, typcategory VARCHAR, typispreferred BOOLEAN, "
        "typisdefined BOOLEAN, typdelim VARCHAR, typrelid UINTEGER, typelem UINTEGER, typarray UINTEGER, "
        "typinput VARCHAR, typoutput VARCHAR, typreceive VARCHAR, typsend VARCHAR, typbasetype UINTEGER, "
        "typtypmod INTEGER, typndims INTEGER, typcollation UINTEGER, typnotnull BOOLEAN, typdefault VARCHAR"
    ),
    "pg_database": (
        "oid UINTEGER, datname VARCHAR, datdba UINTEGER, encoding INTEGER, datcollate VARCHAR, "
        "datctype VARCHAR, datistemplate BOOLEAN, datallowconn BOOLEAN, datconnlimit INTEGER, "
        "dattablespace UINTEGER, datacl VARCHAR[]"
    ),
    "pg_authid": (
        "oid UINTEGER, rolname VARCHAR, rolsuper BOOLEAN, rolinherit BOOLEAN, rolcreaterole BOOLEAN, "
        "rolcreatedb BOOLEAN, rolcanlogin BOOLEAN, rolreplication BOOLEAN, rolconnlimit INTEGER, "
        "rolvaliduntil TIMESTAMP"
    ),
    "pg_tablespace": "oid UINTEGER, spcname VARCHAR, spcowner UINTEGER, spcacl VARCHAR[], spcoptions VARCHAR[]",
    "pg_am": "oid UINTEGER, amname VARCHAR, amtype VARCHAR",
    "pg_collation": (
        "oid UINTEGER, collname VARCHAR, collnamespace UINTEGER, collowner UINTEGER, collprovider VARCHAR, "
        "collisdeterministic BOOLEAN, collencoding INTEGER, collcollate VARCHAR, collctype VARCHAR"
    ),
    "pg_description": "objoid UINTEGER, classoid UINTEGER, objsubid INTEGER, description VARCHAR",
}

EMPTY = {
    "pg_attrdef": "oid UINTEGER, adrelid UINTEGER, adnum SMALLINT, adbin VARCHAR",
    "pg_index": (
        "indexrelid UINTEGER, indrelid UINTEGER, indnatts SMALLINT, indnkeyatts SMALLINT, indisunique BOOLEAN, "
        "indnullsnotdistinct BOOLEAN, indisprimary BOOLEAN, indisexclusion BOOLEAN, indimmediate BOOLEAN, "
        "indisclustered BOOLEAN, indisvalid BOOLEAN, indcheckxmin BOOLEAN, indisready BOOLEAN, "
        "indislive BOOLEAN, indisreplident BOOLEAN, indkey SMALLINT[], indcollation UINTEGER[], "
        "indclass UINTEGER[], indoption SMALLINT[], indexprs VARCHAR, indpred VARCHAR"
    ),
    "pg_constraint": (
        "oid UINTEGER, conname VARCHAR, connamespace UINTEGER, contype VARCHAR, condeferrable BOOLEAN, "
        "condeferred BOOLEAN, convalidated BOOLEAN, conrelid UINTEGER, contypid UINTEGER, conindid UINTEGER, "
        "conparentid UINTEGER, confrelid UINTEGER, confupdtype VARCHAR, confdeltype VARCHAR, "
        "confmatchtype VARCHAR, conislocal BOOLEAN, coninhcount INTEGER, connoinherit BOOLEAN, "
        "conkey SMALLINT[], confkey SMALLINT[], conpfeqop UINTEGER[], conppeqop UINTEGER[], "
        "conffeqop UINTEGER[], conexclop UINTEGER[], conbin VARCHAR"
    ),
    "pg_inherits": "inhrelid UINTEGER, inhparent UINTEGER, inhseqno INTEGER, inhdetachpending BOOLEAN",
    "pg_proc": (
        "oid UINTEGER, proname VARCHAR, pronamespace UINTEGER, proowner UINTEGER, prolang UINTEGER, "
        "prokind VARCHAR, prorettype UINTEGER, pronargs SMALLINT, proargtypes UINTEGER[], proretset BOOLEAN, "
        "proallargtypes UINTEGER[], proargmodes VARCHAR[], proargnames VARCHAR[], prosrc VARCHAR, "
        "proisstrict BOOLEAN, provolatile VARCHAR"
    ),
    "pg_enum": "oid UINTEGER, enumtypid UINTEGER, enumsortorder DOUBLE, enumlabel VARCHAR",
    "pg_range": "rngtypid UINTEGER, rngsubtype UINTEGER, rngmultitypid UINTEGER, rngcollation UINTEGER",
    "pg_extension": "oid UINTEGER, extname VARCHAR, extowner UINTEGER, extnamespace UINTEGER, "
    "extrelocatable BOOLEAN, extversion VARCHAR",
    "pg_trigger": "oid UINTEGER, tgrelid UINTEGER, tgparentid UINTEGER, tgname VARCHAR, tgfoid UINTEGER, "
    "tgtype SMALLINT, tgenabled VARCHAR, tgisinternal BOOLEAN, tgconstraint UINTEGER",
    "pg_rewrite": "oid UINTEGER, rulename VARCHAR, ev_class UINTEGER, ev_type VARCHAR, ev_enabled VARCHAR, "
    "is_instead BOOLEAN",
    "pg_policy": "oid UINTEGER, polname VARCHAR, polrelid UINTEGER, polcmd VARCHAR, polpermissive BOOLEAN, "
    "polroles UINTEGER[], polqual VARCHAR, polwithcheck VARCHAR",
    "pg_statistic_ext": "oid UINTEGER, stxrelid UINTEGER, stxname VARCHAR, stxnamespace UINTEGER, "
    "stxowner UINTEGER, stxstattarget INTEGER, stxkeys SMALLINT[], stxkind VARCHAR[], stxexprs VARCHAR",
    "pg_publication": "oid UINTEGER, pubname VARCHAR, pubowner UINTEGER, puballtables BOOLEAN, "
    "pubinsert BOOLEAN, pubupdate BOOLEAN, pubdelete BOOLEAN, pubtruncate BOOLEAN, pubviaroot BOOLEAN",
    "pg_publication_rel": "oid UINTEGER, prpubid UINTEGER, prrelid UINTEGER, prqual VARCHAR, prattrs SMALLINT[]",
    "pg_publication_namespace": "oid UINTEGER, pnpubid UINTEGER, pnnspid UINTEGER",
    "pg_foreign_table": "ftrelid UINTEGER, ftserver UINTEGER, ftoptions VARCHAR[]",
    "pg_foreign_server": "oid UINTEGER, srvname VARCHAR, srvowner UINTEGER, srvfdw UINTEGER, srvtype VARCHAR, "
    "srvversion VARCHAR, srvacl VARCHAR[], srvoptions VARCHAR[]",
    "pg_partitioned_table": "partrelid UINTEGER, partstrat VARCHAR, partnatts SMALLINT, partdefid UINTEGER",
    "pg_sequence": "seqrelid UINTEGER, seqtypid UINTEGER, seqstart BIGINT, seqincrement BIGINT, seqmax BIGINT, "
    "seqmin BIGINT, seqcache BIGINT, seqcycle BOOLEAN",
    "pg_sequences": "schemaname VARCHAR, sequencename VARCHAR, sequenceowner VARCHAR, data_type VARCHAR, "
    "start_value BIGINT, min_value BIGINT, max_value BIGINT, increment_by BIGINT, last_value BIGINT",
    "pg_depend": "classid UINTEGER, objid UINTEGER, objsubid INTEGER, refclassid UINTEGER, refobjid UINTEGER, "
    "refobjsubid INTEGER, deptype VARCHAR",
    "pg_auth_members": "roleid UINTEGER, member UINTEGER, grantor UINTEGER, admin_option BOOLEAN",
    "pg_language": "oid UINTEGER, lanname VARCHAR, lanowner UINTEGER, lanispl BOOLEAN, lanpltrusted BOOLEAN",
    "pg_opclass": "oid UINTEGER, opcmethod UINTEGER, opcname VARCHAR, opcnamespace UINTEGER, "
    "opcintype UINTEGER, opcdefault BOOLEAN",
    "pg_matviews": "schemaname VARCHAR, matviewname VARCHAR, matviewowner VARCHAR, tablespace VARCHAR, "
    "hasindexes BOOLEAN, ispopulated BOOLEAN, definition VARCHAR",
    "pg_views": "schemaname VARCHAR, viewname VARCHAR, viewowner VARCHAR, definition VARCHAR",
    "pg_indexes": "schemaname VARCHAR, tablename VARCHAR, indexname VARCHAR, tablespace VARCHAR, indexdef VARCHAR",
    "pg_stat_activity": "datid UINTEGER, datname VARCHAR, pid INTEGER, usename VARCHAR, state VARCHAR, query VARCHAR",
    "pg_stat_user_tables": "relid UINTEGER, schemaname VARCHAR, relname VARCHAR, n_live_tup BIGINT",
    "pg_shdescription": "objoid UINTEGER, classoid UINTEGER, description VARCHAR",
    "pg_settings": "name VARCHAR, setting VARCHAR, unit VARCHAR, category VARCHAR, short_desc VARCHAR, source VARCHAR",
    "pg_cast": "oid UINTEGER, castsource UINTEGER, casttarget UINTEGER, castfunc UINTEGER",
    "pg_operator": "oid UINTEGER, oprname VARCHAR, oprnamespace UINTEGER",
    "pg_aggregate": "aggfnoid UINTEGER, aggkind VARCHAR",
    "pg_conversion": "oid UINTEGER, conname VARCHAR, connamespace UINTEGER, conforencoding INTEGER",
    "pg_db_role_setting": "setdatabase UINTEGER, setrole UINTEGER, setconfig VARCHAR[]",
    "pg_default_acl": "oid UINTEGER, defaclrole UINTEGER, defaclnamespace UINTEGER, defaclobjtype VARCHAR",
    "pg_foreign_data_wrapper": "oid UINTEGER, fdwname VARCHAR, fdwowner UINTEGER",
    "pg_user_mapping": "oid UINTEGER, umuser UINTEGER, umserver UINTEGER",
    "pg_ts_config": "oid UINTEGER, cfgname VARCHAR, cfgnamespace UINTEGER",
    "pg_opfamily": "oid UINTEGER, opfmethod UINTEGER, opfname VARCHAR, opfnamespace UINTEGER",
    "pg_locks": "locktype VARCHAR, database UINTEGER, relation UINTEGER, pid INTEGER, mode VARCHAR",
    **{f"information_schema_{name}": columns for name, columns in {
        "views": "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, view_definition VARCHAR",
        "table_constraints": "constraint_catalog VARCHAR, constraint_schema VARCHAR, constraint_name VARCHAR, "
        "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, constraint_type VARCHAR",
        "key_column_usage": "constraint_catalog VARCHAR, constraint_schema VARCHAR, constraint_name VARCHAR, "
        "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, column_name VARCHAR, "
        "ordinal_position INTEGER, position_in_unique_constraint INTEGER",
        "referential_constraints": "constraint_catalog VARCHAR, constraint_schema VARCHAR, "
        "constraint_name VARCHAR, unique_constraint_schema VARCHAR, unique_constraint_name VARCHAR, "
        "update_rule VARCHAR, delete_rule VARCHAR",
        "constraint_column_usage": "table_schema VARCHAR, table_name VARCHAR, column_name VARCHAR, "
        "constraint_schema VARCHAR, constraint_name VARCHAR",
        "routines": "specific_schema VARCHAR, specific_name VARCHAR, routine_schema VARCHAR, "
        "routine_name VARCHAR, routine_type VARCHAR, data_type VARCHAR",
        "sequences": "sequence_schema VARCHAR, sequence_name VARCHAR, data_type VARCHAR",
        "role_table_grants": "grantor VARCHAR, grantee VARCHAR, table_schema VARCHAR, table_name VARCHAR, "
        "privilege_type VARCHAR",
    }.items()},
}  # fmt: skip

_ROLES = (
    "SELECT oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, "
)
INFORMATION = {
    "pg_roles": _ROLES + "rolconnlimit, rolvaliduntil, false AS rolbypassrls, NULL AS rolconfig "
    "FROM catalogue.pg_authid",
    "pg_user": "SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper AS usesuper "
    "FROM catalogue.pg_authid",
    "pg_tables": "SELECT 'public' AS schemaname, relname AS tablename, 'discreet' AS tableowner, "
    "NULL::VARCHAR AS tablespace, false AS hasindexes, false AS hasrules, false AS hastriggers, "
    "false AS rowsecurity FROM catalogue.pg_class",
    "information_schema_schemata": "SELECT current_database_name() AS catalog_name, nspname AS schema_name, "
    "'discreet' AS schema_owner FROM catalogue.pg_namespace",
    "information_schema_tables": "SELECT current_database_name() AS table_catalog, 'public' AS table_schema, "
    "relname AS table_name, 'BASE TABLE' AS table_type, 'NO' AS is_insertable_into FROM catalogue.pg_class",
    "information_schema_columns": "SELECT current_database_name() AS table_catalog, 'public' AS table_schema, "
    "c.relname AS table_name, a.attname AS column_name, a.attnum::INTEGER AS ordinal_position, "
    "NULL::VARCHAR AS column_default, 'YES' AS is_nullable, type_name(a.atttypid) AS data_type, "
    "NULL::INTEGER AS character_maximum_length, NULL::INTEGER AS numeric_precision, "
    "NULL::INTEGER AS numeric_scale, NULL::INTEGER AS datetime_precision, t.typname AS udt_name, "
    "'pg_catalog' AS udt_schema, 'NO' AS is_identity, 'NEVER' AS is_generated, 'NO' AS is_updatable "
    "FROM catalogue.pg_attribute a JOIN catalogue.pg_class c ON c.oid = a.attrelid "
    "JOIN catalogue.pg_type t ON t.oid = a.atttypid ORDER BY c.oid, a.attnum",
}

_ANY = "(a := NULL, b := NULL, c := NULL)"
_NAMES = (
    "CASE x::BIGINT WHEN 16 THEN 'boolean' WHEN 20 THEN 'bigint' WHEN 21 THEN 'smallint' WHEN 23 THEN 'integer' "
    "WHEN 25 THEN 'text' WHEN 701 THEN 'double precision' WHEN 1043 THEN 'character varying' "
    "WHEN 1114 THEN 'timestamp without time zone' WHEN 1184 THEN 'timestamp with time zone' "
    "ELSE (SELECT n_ FROM (SELECT oid AS o_, typname AS n_ FROM catalogue.pg_type) WHERE o_ = x) END"
)
_SAID = (  # columns get names that no argument of a function has
    "(SELECT d_ FROM (SELECT objoid AS o_, objsubid AS s_, description AS d_ FROM catalogue.pg_description) "
    "WHERE o_ = x"
)
# Functions of PostgreSQL that a question about the catalogue may call. Each is total, and none has effects.
MACROS = {
    "type_name": f"(x) AS {_NAMES}",
    "pg_get_userbyid": "(x) AS 'discreet'",
    "pg_table_is_visible": "(x) AS true",
    "pg_type_is_visible": "(x) AS true",
    "pg_function_is_visible": "(x) AS true",
    "format_type": "(x, y := NULL) AS type_name(x)",
    "regclass_name": "(x) AS (SELECT n_ FROM (SELECT oid AS o_, relname AS n_ FROM catalogue.pg_class) WHERE o_ = x)",
    "pg_get_expr": "(a, b, c := false) AS NULL::VARCHAR",
    "pg_get_indexdef": "(a, b := 0, c := false) AS NULL::VARCHAR",
    "pg_get_constraintdef": "(a, b := false) AS NULL::VARCHAR",
    "pg_get_viewdef": "(a, b := false) AS NULL::VARCHAR",
    "pg_get_triggerdef": "(a, b := false) AS NULL::VARCHAR",
    "pg_get_ruledef": "(a, b := false) AS NULL::VARCHAR",
    "pg_get_functiondef": "(a) AS NULL::VARCHAR",
    "pg_get_function_arguments": "(a) AS NULL::VARCHAR",
    "pg_get_function_result": "(a) AS NULL::VARCHAR",
    "pg_get_function_identity_arguments": "(a) AS NULL::VARCHAR",
    "pg_get_serial_sequence": "(a, b) AS NULL::VARCHAR",
    "pg_get_partkeydef": "(a) AS NULL::VARCHAR",
    "pg_get_statisticsobjdef_columns": "(a) AS NULL::VARCHAR",
    "pg_relation_is_publishable": "(a) AS false",
    "pg_encoding_to_char": "(x) AS 'UTF8'",
    "pg_collation_is_visible": "(x) AS true",
    "pg_is_in_recovery": "() AS false",
    "pg_my_temp_schema": "() AS 0",
    "pg_is_other_temp_schema": "(a) AS false",
    "pg_backend_pid": "() AS 0",
    "pg_table_size": "(a) AS NULL::BIGINT",
    "pg_total_relation_size": "(a) AS NULL::BIGINT",
    "pg_relation_size": "(a, b := NULL) AS NULL::BIGINT",
    "pg_database_size": "(a) AS NULL::BIGINT",
    "pg_size_pretty": "(a) AS NULL::VARCHAR",
    "pg_tablespace_location": "(a) AS NULL::VARCHAR",
    "pg_advisory_unlock_all": "() AS NULL::VARCHAR",
    "obj_description": f"(x, y := NULL) AS {_SAID} AND s_ = 0)",
    "col_description": f"(x, y) AS {_SAID} AND s_ = y)",
    "shobj_description": "(a, b := NULL) AS NULL::VARCHAR",
    "has_table_privilege": _ANY + " AS true",
    "has_any_column_privilege": _ANY + " AS true",
    "has_column_privilege": "(a := NULL, b := NULL, c := NULL, d := NULL) AS true",
    "has_schema_privilege": _ANY + " AS true",
    "has_database_privilege": _ANY + " AS true",
    "has_sequence_privilege": _ANY + " AS true",
    "has_function_privilege": _ANY + " AS true",
}
