// Build a question from menus, in step with the SQL below them: what is chosen is written, what is written is read.
"use strict";
const Builder = (() => {
  const byId = (id) => document.getElementById(id);
  const BY_HAND = "Written by hand, beyond these menus. A choice here begins anew.";
  const COMPARE = [["=", "is"], ["<>", "is not"], [">=", "at least"], ["<=", "at most"]];

  function options(select, pairs, chosen = "") {
    select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value, false, value === chosen)));
  }

  // How a value that was typed is written in SQL; empty while it is none.
  function literal(text, type) {
    const quoted = `'${text.replaceAll("'", "''")}'`;
    if (type === "text") return text && quoted;
    if (type === "date") return /^\d{4}-\d\d-\d\d$/.test(text) ? `DATE ${quoted}` : "";
    if (type === "timestamp") return /^\d{4}-\d\d-\d\d/.test(text) ? `TIMESTAMP ${quoted}` : "";
    return /^-?\d*\.?\d+$/.test(text) ? text : "";
  }

  function make(holder, tables, write) {
    const part = (name) => byId(`b-${name}`);
    let table = tables[0];

    function fill(chosen) {
      const groups = [["", "—"], ...table.groups.map(({ sql, text }) => [sql, text])];
      options(part("measure"), table.measures.map(({ sql, text }) => [sql, text]), chosen.measure);
      options(part("by"), groups, chosen.by);
      options(part("and"), groups, chosen.and);
      options(part("column"), [["", "—"], ...table.filters.map(({ sql, text }) => [sql, text])], chosen.column);
      fillValue(chosen);
    }

    function fillValue({ is = "=", value = "" }) {
      const filter = table.filters.find(({ sql }) => sql === part("column").value);
      const labels = filter?.labels ?? [];
      options(part("is"), labels.length || filter?.type === "text" ? COMPARE.slice(0, 2) : COMPARE, is);
      options(part("label"), labels.map(([text, sql]) => [sql, text]), value);
      part("label").hidden = !labels.length;
      part("value").hidden = Boolean(labels.length);
      holder.querySelector("label[for=b-value], label[for=b-label]").htmlFor = labels.length ? "b-label" : "b-value";
      part("value").disabled = part("is").disabled = part("label").disabled = !filter;
      part("value").placeholder = filter?.type === "date" ? "2025-12-31" : "";
      if (!labels.length) part("value").value = value.replace(/^(DATE|TIMESTAMP) /, "").replace(/^'|'$/g, "").replaceAll("''", "'");
    }

    function sql() {
      const measure = table.measures.find((each) => each.sql === part("measure").value);
      const keys = [part("by").value, part("and").value].filter((each, n, all) => each && all.indexOf(each) === n);
      const groups = keys.map((key) => table.groups.find((each) => each.sql === key));
      const named = groups.map((group) => group.as || group.sql);
      const columns = groups.map((group) => (group.as ? `${group.sql} AS ${group.as}` : group.sql));
      const filter = table.filters.find((each) => each.sql === part("column").value);
      const value = filter && (filter.labels.length ? part("label").value : literal(part("value").value.trim(), filter.type));
      return [
        `SELECT ${[...columns, `${measure.sql} AS ${measure.as}`].join(", ")}`,
        `FROM ${table.sql}`,
        ...(value ? [`WHERE ${filter.sql} ${part("is").value} ${value}`] : []),
        ...(named.length ? [`GROUP BY ${named.join(", ")}`] : []),
      ].join("\n");
    }

    // What the menus would have to say to write this SQL; null where they cannot.
    function understand(text) {
      const plain = text.trim().replace(/\s+/g, " ");
      for (const each of tables) {
        const shape = /^SELECT (.+) FROM (\S+|"[^"]+")(?: WHERE (.+?))?(?: GROUP BY (.+?))?(?: ORDER BY (.+))?$/i.exec(plain);
        if (!shape || shape[2] !== each.sql) continue;
        const found = each.measures.find(({ sql }) => new RegExp(`(^|, )${sql.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}( AS \\S+)?$`).test(shape[1]));
        if (!found) continue;
        const before = shape[1].slice(0, shape[1].lastIndexOf(found.sql)).replace(/, $/, "");
        const groups = before ? before.split(/, (?![^(]*\))/).map((one) => each.groups.find(({ sql, as }) => one === sql || one === `${sql} AS ${as}`)) : [];
        if (groups.length > 2 || groups.includes(undefined)) continue;
        if ((shape[4] ?? "") !== groups.map(({ sql, as }) => as || sql).join(", ")) continue;
        const where = shape[3] ? /^(\S+|"[^"]+") (=|<>|>=|<=) ((?:DATE |TIMESTAMP )?'(?:[^']|'')*'|TRUE|FALSE|-?[\d.]+)$/.exec(shape[3]) : [];
        if (!where) continue;
        const filter = each.filters.find(({ sql }) => sql === where[1]);
        if (shape[3] && (!filter || (filter.labels.length && !filter.labels.some(([, sql]) => sql === where[3])))) continue;
        return { table: each, measure: found.sql, by: groups[0]?.sql, and: groups[1]?.sql, column: where[1], is: where[2], value: where[3] };
      }
      return null;
    }

    function read(text) {
      const found = understand(text);
      holder.classList.toggle("by-hand", !found);
      part("note").textContent = found || !text.trim() ? "" : BY_HAND;
      if (!found) return;
      table = found.table;
      if (part("table")) part("table").value = tables.indexOf(table);
      fill(found);
    }

    holder.addEventListener("change", (event) => {
      if (event.target === part("table")) {
        table = tables[event.target.value];
        fill({});
      }
      if (event.target === part("column")) fillValue({});
    });
    holder.addEventListener("input", () => {
      queueMicrotask(() => {
        holder.classList.remove("by-hand");
        part("note").textContent = "";
        write(sql());
      });
    });
    fill({});
    holder.hidden = false;
    return { read };
  }

  return { make };
})();
