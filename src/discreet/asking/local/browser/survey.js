// The survey page: read, answer, see what leaves, send. Without a collector's address nothing is sent at all.
(function () {
  "use strict";

  const { perSurvey, inAll, surveys } = globalThis.discreetSurveys;
  const client = new globalThis.discreetLocal.Client(globalThis.localStorage, { perSurvey, inAll });
  const byId = (id) => document.getElementById(id);

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function showSpent() {
    byId("per-survey").textContent = perSurvey;
    byId("in-all").textContent = inAll;
    byId("spent").textContent = client.spent();
  }

  // The fields for an answer, and a function that reads it: undefined where it is missing.
  function answerFields(id, question, protocol) {
    if (protocol.protocol === "questions") return questionFields(id, question, protocol);
    if (protocol.bounds) {
      const [min, max] = protocol.bounds;
      const input = element("input", { type: "number", id: `${id}-answer`, min, max, step: "any", required: true });
      const label = element("label", { htmlFor: input.id }, `${question} (${min} to ${max})`);
      return [element("fieldset", {}, label, input), () => (input.reportValidity() ? input.valueAsNumber : undefined)];
    }
    if (!protocol.values) {
      const text = protocol.seed !== undefined;
      const input = element("input", { type: text ? "text" : "number", id: `${id}-answer`, required: true });
      if (!text) Object.assign(input, { min: 0, max: protocol.domain - 1, step: 1 });
      const label = element("label", { htmlFor: input.id }, question);
      const value = () => (text ? input.value : input.valueAsNumber);
      return [element("fieldset", {}, label, input), () => (input.reportValidity() ? value() : undefined)];
    }
    const radios = protocol.values.map((value) =>
      element("label", {}, element("input", { type: "radio", name: id, value: String(value) }), ` ${value}`));
    const group = element("fieldset", {}, element("legend", {}, question), ...radios);
    return [group, () => protocol.values[radios.findIndex((radio) => radio.firstChild.checked)]];
  }

  // All questions are answered here; chance decides which of the answers are reported.
  function questionFields(id, title, protocol) {
    const parts = protocol.questions.map(({ name, protocol: each }, i) => [name, ...answerFields(`${id}-${i}`, name, each)]);
    const group = element("fieldset", {}, element("legend", {}, title), ...parts.map(([, fields]) => fields));
    const read = () => {
      const given = parts.map(([name, , one]) => [name, one()]);
      return given.some(([, each]) => each === undefined || Number.isNaN(each)) ? undefined : Object.fromEntries(given);
    };
    return [group, read];
  }

  function describe({ protocol }) {
    const reports = protocol.protocol === "questions"
      ? `answers ${protocol.asked} of ${protocol.questions.length} questions, drawn by chance`
      : protocol.field ? "is a number that many answers may give"
      : protocol.bounds ? `is one of ${protocol.levels + protocol.window} places`
      : protocol.size === 1 ? "is one of the answers" : "is a few of the answers";
    return `Epsilon ${protocol.epsilon}. A report ${reports}; any report may come from any answer.`;
  }

  function show(survey) {
    const [fields, read] = answerFields(survey.id, survey.question, survey.protocol);
    const make = element("button", { type: "button" }, "Make my report");
    const wording = survey.collector ? "Send these bytes" : "Save these bytes";
    const send = element("button", { type: "button", hidden: true }, wording);
    const bytes = element("pre", { hidden: true, tabIndex: 0 });
    bytes.setAttribute("aria-label", "What leaves this browser");
    const note = element("p", { className: "muted" });
    note.setAttribute("role", "status");

    function reveal(text) {
      bytes.textContent = text;
      bytes.hidden = false;
      send.hidden = false;
      make.disabled = true;
      fields.disabled = true;
      note.textContent = survey.collector ? `This, and nothing else, is sent to ${survey.collector}.`
        : "This, and nothing else, would leave the browser: hand it to the collector as a file.";
      showSpent();
    }

    make.addEventListener("click", async () => {
      const answer = read();
      if (answer === undefined || Number.isNaN(answer)) {
        note.textContent = "Choose an answer first.";
        return;
      }
      try {
        reveal(await client.answer(survey.id, survey.protocol, answer));
      } catch (error) {
        note.textContent = `Nothing was drawn: ${error.message}`;
      }
    });

    send.addEventListener("click", async () => {
      const kept = client.kept(survey.id); // always the bytes that were kept
      if (survey.collector) {
        try {
          await fetch(survey.collector, { method: "POST", body: kept, credentials: "omit", cache: "no-store" });
          note.textContent = "Sent. If you send again, the same bytes are sent.";
        } catch {
          note.textContent = "The collector was not reached. Send again later: the same bytes are sent.";
        }
        return;
      }
      const link = element("a", { download: `${survey.id}.json` });
      link.href = URL.createObjectURL(new Blob([`${kept}\n`], { type: "application/json" }));
      link.click();
      URL.revokeObjectURL(link.href);
      note.textContent = "Saved as a file.";
    });

    const heading = element("h2", {}, survey.title);
    const before = client.kept(survey.id);
    const parts = [heading, element("p", { className: "muted" }, describe(survey)), fields, make, bytes, note, send];
    byId("surveys").append(element("section", { id: survey.id }, ...parts));
    if (before !== null) reveal(before);
  }

  surveys.forEach(show);
  showSpent();
})();
