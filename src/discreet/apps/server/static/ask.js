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
  let seconds = 0; // from the charge to the answer

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

  // Pairs of labels and numbers, into a list of definitions.
  function pairsInto(list, pairs) {
    list.replaceChildren(...pairs.map(([label, value, more]) => {
      const pair = document.createElement("div");
      const term = document.createElement("dt");
      const detail = document.createElement("dd");
      term.textContent = label;
      if (more === undefined) detail.textContent = value;
      else {
        const number = document.createElement("strong");
        number.textContent = value;
        detail.append(number, ` ${more}`);
      }
      pair.append(term, detail);
      return pair;
    }));
  }
  const lines = (holder, tag, texts) => holder.replaceChildren(...texts.filter(Boolean).map((text) => {
    const line = document.createElement(tag);
    line.textContent = text;
    return line;
  }));
  const facts = (pairs) => pairsInto(byId("price-facts"), pairs);

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
    byId("state").classList.remove("wrong-text");
    editor.mark(null);
    send.disabled = byId("try").disabled = true;
    byId("tried-state").textContent = "";
    send.textContent = "Ask";
    facts([]);
    for (const id of ["errors", "plan", "free", "odds", "needs-approval", "tried"]) byId(id).hidden = true;
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
    lines(byId("odds"), "p", found.odds);
    byId("errors").hidden = !found.errors.length;
    pairsInto(byId("errors"), found.errors.map(({ name, text, of }) => [name, text, of]));
    byId("try").disabled = false;
    byId("tried").hidden = true;
    byId("tried-state").textContent = "";
    seconds = found.free ? 0 : found.seconds;
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
    byId("state").classList.toggle("wrong-text", over);
    byId("state").textContent = over ? "This costs more than is left. Ask for less, or ask the owner for more." : "";
    const plan = byId("plan");
    plan.hidden = false;
    lines(plan.querySelector("ol"), "li", found.sentences.slice(1));
  }

  // The question on invented people: nothing is charged.
  async function tryOut() {
    const mine = latest;
    byId("try").disabled = true;
    byId("tried-state").textContent = "Inventing people …";
    try {
      const { tried } = await post("dry-run", body());
      if (mine !== latest) return;
      byId("tried").replaceChildren(...tried.map(({ wide, narrow, says }) => {
        const figure = document.createElement("figure");
        figure.className = "picture sized";
        for (const [size, drawing] of [["wide", wide], ["narrow", narrow]]) {
          const part = document.createElement("div");
          part.className = size;
          part.innerHTML = drawing; // the server's own drawing, its texts escaped there
          figure.append(part);
        }
        const caption = document.createElement("figcaption");
        caption.className = "sub";
        caption.textContent = says;
        figure.append(caption);
        return figure;
      }));
      byId("tried").hidden = !tried.length;
      byId("tried-state").textContent = tried.length ? "Nothing was charged, and no data was read." : "There is no number to draw.";
    } catch (error) {
      byId("tried-state").textContent = error.message;
    }
    byId("try").disabled = false;
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
    if (found.left_out) found.says.push(`${found.left_out} more rows are not shown.`);
    byId("says").textContent = found.says.join(" ");
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

  // The time to the deadline, which the plan and the policy fix, and no data.
  function countTo(due) {
    const [bar, begun] = [byId("until"), performance.now()];
    bar.hidden = !due;
    bar.max = due || 1;
    bar.value = 0;
    return setInterval(() => { bar.value = Math.min((performance.now() - begun) / 1000, due); }, 200);
  }

  async function ask() {
    const text = body();
    if (asking || send.disabled || !text) return;
    const asked = area.value; // what is written meanwhile is another question
    asking = send.disabled = true;
    const ticking = countTo(seconds);
    let failed = false;
    byId("state").classList.remove("wrong-text");
    form.setAttribute("aria-busy", "true");
    byId("state").textContent = "Asked. The answer leaves at its deadline, whatever the data.";
    try {
      key ||= Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
      const found = await post("ask", text, { "idempotency-key": key });
      key = "";
      byId("state").textContent = found.waiting ? "This price needs an owner’s approval. Ask again once it is approved." : "";
      if (!found.waiting) showAnswer(found, asked);
    } catch (error) {
      failed = true;
      byId("state").textContent = error.offline ? LOST : error.message;
      if (!error.offline) key = "";
    }
    asking = false;
    clearInterval(ticking);
    byId("until").hidden = true;
    form.removeAttribute("aria-busy");
    const said = byId("state").textContent;
    await explain();
    if (said) byId("state").textContent = said;
    byId("state").classList.toggle("wrong-text", failed);
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  form.addEventListener("input", (event) => {
    if (event.target.closest("#builder")) return;
    key = "";
    if (event.target === area) builder.read(area.value);
    later();
  });
  const builder = Builder.make(byId("builder"), JSON.parse(byId("blocks").textContent), (sql) => {
    area.value = sql;
    key = "";
    editor.paint();
    later();
  });
  byId("try").hidden = byId("at-hand").hidden = false;
  byId("try").addEventListener("click", tryOut);
  document.querySelectorAll(".column").forEach((button) => button.addEventListener("click", () => {
    area.setRangeText(button.dataset.sql, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }));
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
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }));
  send.disabled = true;
  builder.read(area.value);
  explain();
})();
