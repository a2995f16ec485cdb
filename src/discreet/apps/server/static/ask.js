// Ask: explain while the question is written, ask when it is sent. The server decides everything.
"use strict";
(() => {
  const WAIT_MS = 250; // after the last key
  const OFFLINE = "The server cannot be reached. The price comes back with the connection.";
  const LOST = "The connection was lost while asking. Ask again: if it was charged, that costs nothing.";
  const byId = (id) => document.getElementById(id);
  const root = document.querySelector(".ask");
  const form = byId("question");
  const area = byId("sql");
  const send = byId("send");
  const completions = JSON.parse(byId("completions").textContent);
  const editor = Editor.make(area, byId("suggestions"), completions);
  const base = `/datasets/${encodeURIComponent(root.dataset.dataset)}`;
  let key = ""; // of a request that has no reply yet: the same one is sent until there is a reply
  const csrf = document.querySelector("meta[name=csrf]").content;
  let timer = 0;
  let latest = 0;
  let asking = false;

  function body() {
    const amount = form.amount.value.trim();
    // The number is passed on as it was written: the server reads it exactly.
    if (!/^\d*\.?\d+(e-?\d+)?$/i.test(amount)) return null;
    const plain = amount.startsWith(".") ? `0${amount}` : amount.replace(/^0+(?=\d)/, "");
    return `{"sql":${JSON.stringify(area.value)},"${form.kind.value}":${plain},"confidence":${form.confidence.value}}`;
  }

  async function post(path, text, headers = {}) {
    const response = await fetch(`${base}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-csrf": csrf, ...headers },
      body: text,
    }).catch(() => { throw Object.assign(new Error(OFFLINE), { offline: true }); });
    const found = await response.json();
    if (response.status === 401) leave();
    if (!response.ok) throw Object.assign(new Error(found.error.message), found.error);
    return found;
  }

  // The session is over: sign in again, and be back with what was written, if an address can hold it.
  function leave() {
    const here = `${base}/ask?${new URLSearchParams({ sql: area.value, kind: form.kind.value, amount: form.amount.value, confidence: form.confidence.value })}`;
    window.location.assign(here.length > 4000 ? "/login" : `/login?next=${encodeURIComponent(here)}`);
  }

  const facts = (pairs) => Figures.facts(byId("price-facts"), pairs);

  function drawGauge(gauge, free = false) {
    const block = byId("gauge");
    const over = gauge.fits === 0 && !free;
    const next = block.querySelector(".next");
    next.setAttribute("x", `${over ? 0 : gauge.spent}%`);
    next.setAttribute("width", free ? "0" : `${over ? 100 : Math.min(gauge.next ?? 0, 100 - gauge.spent)}%`);
    next.classList.toggle("over", over);
    block.querySelector(".spent").setAttribute("width", `${gauge.spent}%`);
    const said = gauge.texts;
    block.querySelector(".gone").textContent = said.gone;
    block.querySelector(".spent-number").textContent = said.spent;
    block.querySelector(".left-number").textContent = said.remaining;
    block.querySelector(".of").textContent = `${said.of} ${said.symbol} = ${said.limit}`;
    block.querySelector("svg").setAttribute("aria-label", said.label);
    return over;
  }

  // Forget what was shown of the question before: no price, no red bar, no plan of another question.
  function clear() {
    byId("sql-error").textContent = byId("state").textContent = "";
    editor.mark(null);
    send.disabled = true;
    send.textContent = "Ask";
    facts([]);
    for (const id of ["forecast", "plan", "free", "odds", "needs-approval"]) byId(id).hidden = true;
    const next = byId("gauge").querySelector(".next");
    next.setAttribute("width", "0");
    next.classList.remove("over");
  }

  function fail(error) {
    clear();
    byId("sql-error").textContent = error.message.split("\n")[0];
    editor.mark(error.place ?? null);
  }

  function show(found) {
    byId("sql-error").textContent = "";
    editor.mark(null);
    byId("free").hidden = !found.free;
    byId("needs-approval").hidden = !found.waits || found.free;
    byId("odds").hidden = false;
    byId("odds").textContent = found.odds;
    const text = (parts) => Object.entries(parts).map(([symbol, number]) => `${symbol} ${number}`).join(", ");
    const [price, cost] = [text(found.price), text(found.cost)];
    send.textContent = found.free ? "Ask, free" : `Ask for ${price}`;
    facts([
      ["price", found.free ? "free" : price],
      ...(price === cost || found.free ? [] : [["of the budget", cost]]),
      ["such questions that fit", found.gauge.fits_words],
      ["answer after", found.free ? "at once" : `${found.seconds} s`],
    ]);
    const over = drawGauge(found.gauge, found.free);
    send.disabled = asking || over;
    byId("state").textContent = over ? "This costs more than is left. Ask for less, or ask the owner for more." : "";
    const holder = byId("forecast");
    holder.hidden = !found.figure;
    if (found.figure) {
      holder.querySelector(".plot").style.height = `${66 + 76 * found.figure.light.data.length}px`;
      Figures.drawBoth(holder, found.figure);
    }
    const plan = byId("plan");
    plan.hidden = false;
    plan.querySelector("ol").replaceChildren(...found.sentences.slice(1).map((sentence) => {
      const line = document.createElement("li");
      line.textContent = sentence;
      return line;
    }));
  }

  async function explain() {
    const mine = ++latest;
    const text = body();
    if (!area.value.trim() || !text) {
      clear();
      if (!text) byId("sql-error").textContent = "How much must be a number above 0, such as 0.1.";
      return;
    }
    try {
      const found = await post("explain", text);
      if (mine === latest) (found.refused ? fail : show)(found.refused ?? found);
    } catch (error) {
      if (mine === latest) fail(error);
    }
  }

  function later() {
    send.disabled = true;
    clearTimeout(timer);
    timer = setTimeout(explain, WAIT_MS);
  }

  function table(found) {
    const element = document.createElement("table");
    const caption = element.createCaption();
    if (found.left_out) found.says.push(`${found.left_out} more rows are not shown.`);
    caption.textContent = found.says.join(" ");
    const head = element.createTHead().insertRow();
    found.columns.forEach((name, i) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      if (found.rows.length && found.rows[0][i].kind === "number") cell.className = "number";
      head.append(cell);
    });
    const rows = element.createTBody();
    found.rows.forEach((row) => {
      const line = rows.insertRow();
      row.forEach(({ text, margin, kind }) => {
        const cell = line.insertCell();
        cell.textContent = text;
        if (kind === "number") cell.className = "number";
        if (margin) {
          const part = document.createElement("span");
          part.className = "pm";
          part.textContent = margin;
          cell.append(part);
        }
      });
    });
    return element;
  }

  function showAnswer(found, asked) {
    const section = byId("answer");
    byId("asked").textContent = asked.trim();
    section.hidden = false;
    byId("paid").textContent = found.charged ? `charged ${found.price}` : "from the ledger, free";
    byId("open").href = `${base}/answers/${found.charge}`;
    byId("paid").classList.toggle("good", !found.charged);
    byId("receipt").href = `${base}/receipts/${found.charge}`;
    byId("answer-table").replaceChildren(table(found.table));
    const holder = byId("chart");
    holder.hidden = !found.chart;
    for (const size of ["wide", "narrow"]) holder.querySelector(`.${size}`).innerHTML = found.chart?.[size] ?? "";
    drawGauge({ ...found.gauge, next: 0, fits: null });
    section.focus({ preventScroll: true });
    section.scrollIntoView({ block: "nearest" });
  }

  async function ask() {
    const text = body();
    if (asking || send.disabled || !text) return;
    const asked = area.value; // what is written meanwhile is another question
    asking = send.disabled = true;
    form.setAttribute("aria-busy", "true");
    byId("state").textContent = "Asked. The answer leaves at its deadline, whatever the data.";
    try {
      key ||= Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
      const found = await post("ask", text, { "idempotency-key": key });
      key = "";
      byId("state").textContent = found.waiting ? "This price needs an owner’s approval. Ask again once it is approved." : "";
      if (!found.waiting) showAnswer(found, asked);
    } catch (error) {
      byId("state").textContent = error.offline ? LOST : error.message;
      if (!error.offline) key = "";
    }
    asking = false;
    form.removeAttribute("aria-busy");
    const said = byId("state").textContent;
    await explain();
    if (said) byId("state").textContent = said;
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  form.addEventListener("input", () => { key = ""; later(); });
  window.addEventListener("online", explain);
  form.kind.addEventListener("change", () => {
    const within = form.kind.value === "within";
    form.querySelector("label[for=amount]").textContent = within ? "Error, at most ±" : "How much";
    form.amount.value = { epsilon: "0.1", rho: "0.01", within: "100" }[form.kind.value];
  });
  area.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "Enter") { event.preventDefault(); ask(); }
  });
  document.querySelectorAll(".example").forEach((button) => button.addEventListener("click", () => {
    area.value = button.dataset.sql;
    area.focus();
    later();
  }));
  send.disabled = true;
  explain();
})();
