"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = { pass: "kept", fail: "broken", warn: "warned of", waived: "waived", inconclusive: "not told", "not-applicable": "not applicable", observed: "observed", error: "error" };
  const colours = { pass: "good", fail: "bad", warn: "open", waived: "open", inconclusive: "open", "not-applicable": "soft", observed: "seen", error: "bad" };

  // Everything that is shown is made here, and what the target wrote is only ever text.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return element;
  }

  const cases = data.cases.map(([id, clause, verdict, more]) => ({ id, clause, verdict, more: more || {} }));
  const byClause = data.clauses.map(() => []);
  cases.forEach((one) => { if (one.clause !== null) byClause[one.clause].push(one); });
  const order = ["fail", "warn", "error", "inconclusive", "waived", "pass", "observed", "not-applicable"];
  // What the record says of a demanded clause, else what its cases came to.
  const states = { kept: "pass", broken: "fail", "not asked": "inconclusive", "left out": "not-applicable" };
  const state = (clause, at) => {
    if (clause.broken === "warn" && (!clause.state || clause.state[0] === "broken")) return "warn";
    if (clause.state) return states[clause.state[0]];
    if (clause.broken) return "fail";
    const found = order.find((word) => byClause[at].some((one) => one.verdict === word));
    return found || "none";
  };
  const shownState = { ...words, inconclusive: "not asked or not told", "not-applicable": "declared absent or left out", none: "no case of its own" };

  function section(id, title, ...children) {
    return make("section", { id, "aria-labelledby": id + "-title" }, make("h2", { id: id + "-title" }, title), ...children);
  }

  function first() {
    const conforms = data.exit === 0;
    const rows = data.strengths.map((row) => make("tr", {},
      make("th", { scope: "row" }, row.strength),
      make("td", { class: "number good" }, row.kept),
      make("td", { class: "number " + (row.broken ? "bad" : "soft") }, row.broken),
      make("td", { class: "number " + (row.warned ? "open" : "soft") }, row.warned),
      make("td", { class: "number " + (row.open ? "open" : "soft") }, row.open),
      make("td", { class: "number seen" }, row.observed)));
    return make("header", {},
      make("h1", {}, "xs2aspec conformance report"),
      make("p", { class: "verdict " + (conforms ? "good" : data.exit === 1 ? "bad" : "open") }, data.conclusion + " (exit " + data.exit + ")"),
      make("p", {}, data.demanded),
      data.toAdd.length > 0 && make("div", { class: "open" }, "To ask more, add to the profile, or declare it absent under [capabilities]:", make("ul", {}, data.toAdd.map((line) => make("li", {}, make("code", {}, line))))),
      make("dl", {}, data.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
      make("table", { class: "strengths" },
        make("caption", { class: "soft" }, "Cases, by how firmly the document makes the statement"),
        make("thead", {}, make("tr", {}, ["strength", "kept", "broken", "warned of", "not assessed", "observed"].map((name, at) => make("th", { scope: "col", class: at ? "number" : null }, name)))),
        make("tbody", {}, rows)),
      make("nav", { "aria-label": "Parts of the report" }, parts.map(([id, title]) => make("a", { href: "#" + id }, title))));
  }

  // Members and headers that the case changed are marked in what was sent.
  function marked(text, changes) {
    const names = changes.map((change) => (change.match(/^(?:header|body|query)\/([^ ]+)/) || [])[1]).filter(Boolean);
    const leaves = names.map((name) => name.split("/").pop().toLowerCase());
    return text.split("\n").flatMap((line, at) => {
      const hit = leaves.some((leaf) => line.toLowerCase().startsWith(leaf + ":") || line.toLowerCase().includes('"' + leaf + '"'));
      return [at ? "\n" : "", hit ? make("mark", {}, line) : line];
    });
  }

  function pretty(body) {
    try { return JSON.stringify(JSON.parse(body), null, 2); } catch { return body; }
  }

  function exchange(one, changes, findings) {
    const places = findings.map((finding) => finding.at.split("/").pop());
    const found = (text) => text.split("\n").flatMap((line, at) => {
      const hit = places.some((place) => place && place !== "status" && (line.includes('"' + place + '"') || line.toLowerCase().startsWith(place.toLowerCase() + ":")));
      return [at ? "\n" : "", hit ? make("mark", {}, line) : line];
    });
    const statusHit = findings.some((finding) => finding.at === "status");
    const request = [one.request.line, ...one.request.headers].join("\n") + (one.request.body ? "\n\n" + pretty(one.request.body) : "");
    const answer = one.response ? [...one.response.headers].join("\n") + (one.response.body ? "\n\n" + pretty(one.response.body) : "") : "";
    return make("div", {},
      make("h3", {}, one.step === "request" ? "The judged request" : "Preparing: " + one.step, " ", make("span", { class: "soft" }, one.took)),
      make("div", { class: "sides" },
        make("div", {}, make("div", { class: "soft" }, "sent"), make("pre", { tabindex: "0", "aria-label": "request" }, marked(request, changes))),
        make("div", {}, make("div", { class: "soft" }, "came back"),
          make("pre", { tabindex: "0", "aria-label": "response" }, one.response ? [statusHit ? make("mark", {}, one.response.line) : one.response.line, "\n", found(answer)] : one.failure || "no answer"))));
  }

  function caseDetails(one) {
    const more = one.more;
    const element = make("details", { id: "case:" + one.id },
      make("summary", {}, make("span", { class: colours[one.verdict] }, words[one.verdict]), " ", make("code", {}, one.id),
        make("span", { class: "soft" }, one.clause === null ? "" : " " + data.clauses[one.clause].says)));
    // Drawn when it is opened: a report of thousands stays quick.
    element.addEventListener("toggle", () => {
      if (!element.open || element.childElementCount > 1) return;
      const clause = data.clauses[one.clause];
      const findings = more.findings || [];
      element.append(make("div", { class: "inside" },
        clause && make("p", {}, make("a", { href: "#clause:" + clause.id }, clause.id), " (" + clause.strength + "): " + clause.says + " ", make("span", { class: "soft" }, clause.section + ", line " + clause.line)),
        more.expected && make("p", {}, "Expected: " + more.expected),
        more.changes && more.changes.length > 0 && make("div", {}, "Different from the valid request:", make("ul", {}, more.changes.map((change) => make("li", {}, make("code", {}, change)))), more.culprit),
        findings.length > 0 && make("ul", {}, findings.map((finding) => make("li", { class: finding.level === "warn" ? "open" : "bad" }, finding.level + ": " + finding.says + " ", make("a", { href: "#clause:" + finding.clause }, finding.clause)))),
        more.reason && make("p", { class: "open" }, more.reason),
        more.observations && make("ul", { class: "seen" }, more.observations.map((seen) => make("li", {}, seen))),
        more.control && make("p", {}, "Its valid twin " + more.control.case + " was " + (more.control.accepted ? "accepted." : "not accepted.")),
        (more.exchanges || []).map((sent) => exchange(sent, more.changes || [], findings)),
        more.again && make("p", {}, "Again: ", make("code", {}, more.again)),
        more.place && make("p", { class: "soft" }, more.place)));
    });
    return element;
  }

  function list(verdicts) {
    const found = cases.filter((one) => verdicts.includes(one.verdict));
    const box = make("div", {});
    const step = 200;
    let shown = 0;
    const button = make("button", { type: "button" }, "");
    const draw = () => {
      for (const one of found.slice(shown, shown + step)) box.append(caseDetails(one));
      shown = Math.min(shown + step, found.length);
      button.textContent = "show more (" + (found.length - shown) + " left)";
      button.hidden = shown >= found.length;
    };
    button.addEventListener("click", draw);
    draw();
    return found.length ? [box, button] : [make("p", { class: "soft" }, "none")];
  }

  function ledger() {
    const search = make("input", { type: "search", id: "search", autocomplete: "off" });
    const choose = (id, all, options) => make("select", { id }, make("option", { value: "" }, all), options.map(([value, name]) => make("option", { value }, name)));
    const strength = choose("strength", "every strength", ["stated", "derived", "expected", "choice", "observed", "untestable"].map((one) => [one, one]));
    const verdict = choose("verdict", "every state", [...order, "none"].map((word) => [word, shownState[word]]));
    const count = make("p", { role: "status", class: "soft" });
    const body = make("div", {});
    const rows = data.clauses.map((clause, at) => {
      const word = state(clause, at);
      const numbers = order.map((word) => [word, byClause[at].filter((one) => one.verdict === word).length]).filter(([, number]) => number);
      const row = make("tr", { id: "clause:" + clause.id, tabindex: "-1" },
        make("td", {}, make("code", {}, clause.id)),
        make("td", {}, clause.says, clause.standard ? make("span", { class: "soft" }, " (" + clause.standard + ")") : null, clause.why ? make("div", { class: "soft" }, clause.why) : null),
        make("td", {}, clause.strength, make("div", { class: "soft" }, clause.level)),
        make("td", {}, "line " + clause.line),
        make("td", { class: colours[word] || "soft" }, shownState[word]),
        make("td", {}, numbers.map(([word, number]) => make("div", { class: colours[word] }, number + " " + words[word])),
          clause.state && clause.state[1] ? make("div", { class: "soft" }, clause.state[1]) : null));
      return { row, clause, word, text: (clause.id + " " + clause.says + " " + clause.section).toLowerCase() };
    });
    const sections = new Map();
    for (const one of [...rows].sort((a, b) => a.clause.line - b.clause.line)) {
      if (!sections.has(one.clause.section)) sections.set(one.clause.section, []);
      sections.get(one.clause.section).push(one);
    }
    const tables = [...sections].map(([title, members]) => {
      const table = make("table", {},
        make("thead", {}, make("tr", {}, ["clause", "statement", "strength", "document", "state", "cases"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, members.map((one) => one.row)));
      const block = make("div", {}, make("h3", {}, title || "The document"), table);
      body.append(block);
      return { block, members };
    });
    const filter = () => {
      const text = search.value.trim().toLowerCase();
      let shown = 0;
      for (const { block, members } of tables) {
        let any = false;
        for (const one of members) {
          const fits = (!text || one.text.includes(text)) && (!strength.value || one.clause.strength === strength.value) && (!verdict.value || one.word === verdict.value);
          one.row.hidden = !fits;
          any = any || fits;
          shown += fits ? 1 : 0;
        }
        block.hidden = !any;
      }
      count.textContent = shown + " of " + rows.length + " statements";
    };
    for (const control of [search, strength, verdict]) control.addEventListener("input", filter);
    filter();
    return [make("div", { class: "filters", role: "search" },
      make("label", { for: "search" }, "search", search), make("label", { for: "strength" }, "strength", strength), make("label", { for: "verdict" }, "state", verdict)), count, body];
  }

  function observed() {
    const seen = new Map();
    for (const one of cases) for (const said of one.more.observations || []) {
      // What differs in ids alone is one thing.
      const text = said.replace(/\b(?=[0-9a-f-]*[0-9])[0-9a-f]{8}[0-9a-f-]*\b/g, "*");
      seen.set(text, (seen.get(text) || 0) + 1);
    }
    const items = [...seen].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return items.length ? make("ul", {}, items.map(([text, number]) => make("li", {}, number + " × " + text))) : make("p", { class: "soft" }, "nothing");
  }

  const untestable = data.clauses.filter((clause) => clause.strength === "untestable");
  const parts = [["broken", "What is broken"], ["warned", "What is warned of"], ["open", "What could not be told"], ["waivers", "Waivers"], ["ledger", "Every statement of the document"], ["observed", "What was observed"], ["untestable", "What cannot be tested from outside"], ["applicable", "Not applicable"], ["quality", "How good the suite is"], ["timing", "Timing"]];
  if (data.changes) parts.unshift(["changes", "What changed"]);
  const titles = Object.fromEntries(parts);
  const reasons = new Map();
  for (const one of cases) if (one.verdict === "not-applicable") reasons.set(one.more.reason, (reasons.get(one.more.reason) || 0) + 1);

  function changed() {
    const { base, heading, lists } = data.changes;
    return [make("p", {}, heading), make("p", { class: "soft" }, "since " + base),
      lists.map(({ title, count, items }) => make("div", {}, make("h3", {}, title + " (" + count + ")"),
        make("ul", {}, items.map(([item, why]) => make("li", {}, make("code", {}, item), why ? ": " + why : null)),
          count > items.length && make("li", { class: "soft" }, "and " + (count - items.length) + " more"))))];
  }

  document.getElementById("report").replaceChildren(...[
    first(),
    data.changes && section("changes", titles.changes, changed()),
    section("broken", titles.broken, list(["fail"]), data.left > 0 && make("p", { class: "soft" }, "The exchanges of " + data.left + " more cases are in record.jsonl.")),
    section("warned", titles.warned, list(["warn"])),
    section("open", titles.open, list(["error", "inconclusive"])),
    section("waivers", titles.waivers, data.waivers.length ? make("ul", {}, data.waivers.map((one) => make("li", { class: one.red ? "bad" : "open" }, one.says))) : make("p", { class: "soft" }, "none"), cases.some((one) => one.verdict === "waived") && list(["waived"])),
    section("ledger", titles.ledger, ledger()),
    section("observed", titles.observed, observed()),
    section("untestable", titles.untestable, make("ul", {}, untestable.map((clause) => make("li", {}, make("code", {}, clause.id), " " + clause.says + (clause.why ? ": " + clause.why : ""))))),
    section("applicable", titles.applicable, reasons.size ? make("ul", {}, [...reasons].map(([reason, number]) => make("li", {}, number + " × " + reason))) : make("p", { class: "soft" }, "nothing")),
    section("quality", titles.quality, make("p", {}, data.quality || "This suite was not made with its kill matrix.")),
    section("timing", titles.timing,
      data.times.rows.length > 0 && make("table", {},
        make("caption", { class: "soft" }, "How long answers took, by operation"),
        make("thead", {}, make("tr", {}, ["operation", ...data.times.columns].map((name, at) => make("th", { scope: "col", class: at ? "number" : null }, name)))),
        make("tbody", {}, data.times.rows.map(([name, cells]) => make("tr", {}, make("th", { scope: "row" }, name), cells.map((cell) => make("td", { class: "number" }, cell)))))),
      data.slow.length > 0 && make("ul", { class: "open" }, data.slow.map((line) => make("li", {}, line))),
      data.slowFor.length > 0 && make("ul", {}, data.slowFor.map((line) => make("li", {}, line))),
      make("p", { class: "soft" }, "The cases that took longest:"),
      make("ul", {}, data.slowest.map(([id, took]) => make("li", {}, make("code", {}, id), " " + took))))].filter(Boolean));

  // A link to a case that is not drawn yet, or is closed, opens it.
  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.tagName === "DETAILS") target.open = true;
    target.scrollIntoView();
    if (target.tabIndex === -1) target.focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("#broken details")) one.open = true; });
  follow();
})();
