"""Journeys of clients that live in an environment of their own: run by its Python, as a program.

    python more_clients.py adbc | ibis | jdbc PORT TOKEN [JAR]

Each connects, lists, describes, asks, is refused, asks again and runs out of budget.
"""

import sys

COUNT = "SELECT city, COUNT(*) AS n FROM town GROUP BY city"
ROWS = "SELECT * FROM town"
MORE = ("SELECT COUNT(*) AS n FROM town", "SELECT COUNT(*) AS more FROM town")
COLUMNS = ["city", "debt", "person", "shop"]


def refused(call, error):
    try:
        call()
    except Exception as raised:  # noqa: BLE001  each client has errors of its own
        said = str(raised)
    else:
        said = ""
    assert error in said, said


def adbc(port, token):
    from adbc_driver_postgresql import dbapi

    address = f"postgresql://ann:{token}@127.0.0.1:{port}/town?options=-c%20discreet.epsilon%3D0.5"
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        (catalogue,) = connection.adbc_get_objects().read_all().to_pylist()
        names = [
            table["table_name"]
            for schema in catalogue["catalog_db_schemas"]
            for table in schema["db_schema_tables"]
        ]
        assert names == ["town"]
        assert sorted(connection.adbc_get_table_schema("town").names) == COLUMNS

        def ask(sql):
            cursor.execute(sql)
            return cursor.fetch_arrow_table().to_pylist()

        first = ask(COUNT)
        assert [row["city"] for row in first] == ["Ottawa", "Toronto"]
        refused(lambda: ask(ROWS), "must aggregate")
        connection.rollback()
        assert ask(COUNT) == first
        ask(MORE[0])
        refused(lambda: ask(MORE[1]), "must fit account")


def ibis(port, token):
    import ibis as package

    place = {"host": "127.0.0.1", "port": int(port), "user": "ann", "password": token, "database": "town"}
    connection = package.postgres.connect(**place, options="-c discreet.epsilon=0.5")
    assert connection.list_tables() == ["town"]
    town = connection.table("town")
    assert sorted(town.schema().names) == COLUMNS
    question = town.group_by("city").aggregate(n=town.count())
    first = question.execute()
    assert list(first.city) == ["Ottawa", "Toronto"]
    refused(lambda: town.head(5).execute(), "must aggregate")
    assert question.execute().equals(first)
    town.filter(town.debt > 5).count().execute()
    refused(lambda: town.filter(town.debt > 6).count().execute(), "must fit account")


def jdbc(port, token, jar):
    import jpype
    import jpype.imports

    jpype.startJVM(classpath=[jar])
    from java.sql import DriverManager
    from java.util import Properties

    settings = Properties()
    for name, value in {"user": "ann", "password": token, "options": "-c discreet.epsilon=0.5"}.items():
        settings.put(name, value)
    connection = DriverManager.getConnection(f"jdbc:postgresql://127.0.0.1:{port}/town", settings)

    def rows(found):
        count = found.getMetaData().getColumnCount()
        listed = []
        while found.next():
            listed.append([str(found.getString(place + 1)) for place in range(count)])
        return listed

    facts = connection.getMetaData()
    assert [row[2] for row in rows(facts.getTables(None, None, "%", None))] == ["town"]
    assert sorted(row[3] for row in rows(facts.getColumns(None, "public", "town", "%"))) == COLUMNS
    assert rows(facts.getPrimaryKeys(None, "public", "town")) == []
    assert rows(facts.getIndexInfo(None, "public", "town", False, True)) == []
    assert rows(facts.getImportedKeys(None, "public", "town")) == []
    question = connection.prepareStatement(
        "SELECT city, COUNT(*) AS n FROM town WHERE debt > ? GROUP BY city"
    )
    found = []
    for _ in range(7):  # from the fifth on the driver prepares it on the server, and reads binary values
        question.setDouble(1, 5.5)
        found.append(rows(question.executeQuery()))
    assert all(each == found[0] for each in found)
    refused(lambda: connection.createStatement().executeQuery(ROWS), "must aggregate")
    connection.setAutoCommit(False)
    counted = connection.prepareStatement(COUNT)
    counted.setFetchSize(1)  # portals that are suspended after each row
    assert [row[0] for row in rows(counted.executeQuery())] == ["Ottawa", "Toronto"]
    connection.commit()
    refused(lambda: connection.createStatement().executeQuery(MORE[1]), "must fit account")
    connection.close()


if __name__ == "__main__":
    {"adbc": adbc, "ibis": ibis, "jdbc": jdbc}[sys.argv[1]](*sys.argv[2:])
