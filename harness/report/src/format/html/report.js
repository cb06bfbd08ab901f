"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = { pass: "passed", flaky: "flaky", fail: "failed", warn: "warning", waived: "waived", inconclusive: "inconclusive", "not-applicable": "not applicable", observed: "observed", error: "error" };
  const colours = { pass: "kept", fail: "denied", warn: "warned", waived: "warned", inconclusive: "not-asked", "not-applicable": "absent", observed: "observed", error: "not-asked" };

  // Creates every element of the page. Strings from the target only ever become text nodes.
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
  // A long id wraps after its slashes and dots only.
  const code = (text) => make("code", {}, text.split(/(?<=[/.])/).map((part) => [part, make("wbr")]));

  const clauses = new Map(data.clauses.map(([id, operation, control]) => [id, { id, operation, control, cases: [] }]));
  // Each id has only what differs from the one before it. Most cases passed.
  let last = "";
  const cases = data.cases.map(([shared, rest, at, number, verdict, more]) => {
    const clause = at === null ? null : clauses.get(data.clauses[at][0]);
    last = last.slice(0, shared) + rest;
    const one = { id: last, clause, verdict: verdict || "pass", number, more: more || {} };
    if (clause) clause.cases.push(one);
    return one;
  });

  // Lines that a case changed, or that a finding names, are marked.
  function frame(label, [text, marks]) {
    const marked = new Set(marks);
    const lines = text.split("\n").flatMap((line, at) => [at ? "\n" : "", marked.has(at) ? make("mark", {}, line) : line]);
    return make("pre", { tabindex: "0", role: "region", "aria-label": label }, lines);
  }

  function exchange(one) {
    return make("div", {},
      make("p", { class: "soft" }, (one.step === "request" ? "The judged request" : "Setup: " + one.step) + ", " + one.took + ", request " + one.number + " of the run"),
      make("div", { class: "sides" },
        make("div", {}, make("div", { class: "soft" }, "request"), frame("request", one.sent)),
        make("div", {}, make("div", { class: "soft" }, "response"), frame("response", one.came))));
  }

  function inside(one) {
    const more = one.more;
    const list = (items, draw) => items && items.length > 0 && make("ul", {}, items.map((item) => make("li", {}, draw(item))));
    const clause = (id) => make("a", { href: "#clause:" + id }, code(id));
    return make("div", { class: "inside" },
      one.clause && make("p", {}, "clause ", clause(one.clause.id), more.expected && ", expected: " + more.expected),
      more.changes && more.changes.length > 0 && make("div", {}, "Differences from the valid request:", list(more.changes, code), more.culprit),
      more.judgedWith && make("div", {}, "Sent with this, because the target rejects the baseline request without it:", list(more.judgedWith, code)),
      list(more.findings, (finding) => [make("span", { class: finding.level === "warn" ? "warned" : "denied" }, finding.level + ": " + finding.says + " "), clause(finding.clause)]),
      more.reason && make("p", { class: "not-asked" }, more.reason),
      list(more.observations, (seen) => make("span", { class: "observed" }, seen)),
      more.control && make("p", {}, "Its control ", code(more.control.case), " was " + (more.control.accepted ? "accepted." : "not accepted.")),
      (more.exchanges || []).map(exchange),
      !more.exchanges && make("p", { class: "soft" }, one.number ? "request " + one.number + " of the run" : "no request of its own"),
      more.again && make("p", {}, "Rerun: ", code(more.again)),
      more.place && make("p", { class: "soft" }, more.place));
  }

  function caseDetails(one, isLinked) {
    const element = make("details", { class: "case", id: isLinked ? "case:" + one.id : null },
      make("summary", {}, make("span", { class: colours[one.verdict] }, words[one.verdict]), " ", code(one.id)));
    // Rendered when it is opened, so that a report with thousands of cases stays fast.
    element.addEventListener("toggle", () => {
      if (!element.open || element.childElementCount > 1) return;
      element.append(inside(one));
    });
    return element;
  }

  // Shows the first items of a list, and a button for more.
  function some(found, step, isLinked) {
    const box = make("div", {});
    const button = make("button", { type: "button" });
    let shown = 0;
    const draw = () => {
      for (const one of found.slice(shown, shown + step)) box.append(caseDetails(one, isLinked));
      shown = Math.min(shown + step, found.length);
      button.textContent = "show more (" + (found.length - shown) + " left)";
      button.hidden = shown >= found.length;
    };
    button.addEventListener("click", draw);
    draw();
    return make("div", {}, box, button);
  }

  const quoted = (text) => "'" + text.replaceAll("'", "''") + "'";
  const group = (id, like) => ["  - clause: " + id, "    name: to-be-named", "    baseline: " + (like && like.operation || "to-be-named"), "    change:", "      - set: body/to-be-named", "        to: to be broken",
    "    control: " + (like && like.control || "to-be-named"), "    expect: refused"].join("\n");

  function skeleton(text) {
    return make("div", { class: "skeleton" }, make("pre", { tabindex: "0", role: "region", "aria-label": "skeleton" }, text));
  }

  // A skeleton of a clause and a case for a sentence without a clause, modeled on the clause before it.
  function begin(link) {
    const all = [...document.querySelectorAll("#document .clause, #document a[data-quote]")];
    const before = all.slice(0, all.indexOf(link)).reverse().filter((one) => one.matches(".clause"));
    const near = before.map((one) => clauses.get(one.id.slice("clause:".length))).find((one) => one && one.operation);
    const subject = near ? near.id.split(".")[0] : "subject";
    const quote = link.dataset.quote;
    return skeleton("# the ledger, cases/clauses/" + (near ? ", next to " + near.id : "") + "\n"
      + ["  - id: " + subject + ".to-be-named", "    says: to be said", "    quote: " + quoted(quote), "    strength: stated"].join("\n")
      + "\n\n# the case" + (near ? ", next to those of " + near.id : "") + "\n" + group(subject + ".to-be-named", near)
      + "\n\n# this command writes both\nxs2aspec scaffold " + subject + ".to-be-named --quote '" + quote.replaceAll("'", "'\\''") + "'");
  }

  const notes = [...document.querySelectorAll(".note")];
  function fill(note) {
    for (const element of note.querySelectorAll(".clause")) {
      if (element.dataset.filled) continue;
      element.dataset.filled = "true";
      const clause = clauses.get(element.id.slice("clause:".length));
      if (!clause) continue;
      if (clause.cases.length > 0) element.append(some(clause.cases, 8, false));
      if (["not-asked", "absent", "untestable", "open"].includes(element.dataset.mark)) {
        const button = make("button", { type: "button" }, "skeleton of a case");
        button.addEventListener("click", () => button.replaceWith(skeleton(group(clause.id, clause))));
        element.append(button);
      }
    }
  }
  for (const note of notes) {
    note.addEventListener("toggle", () => {
      if (!note.open) return;
      fill(note);
      // One at a time, because notes cover the text.
      for (const other of notes) if (other !== note) other.open = false;
    });
  }
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && notes.find((note) => note.open);
    if (open) { open.open = false; open.querySelector("summary").focus(); }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest(".note, a")) return;
    for (const note of notes) note.open = false;
  });

  const choose = (id, all, options) => make("select", { id }, make("option", { value: "" }, all), options.map(([value, name]) => make("option", { value }, name)));

  function filters() {
    const sheet = document.querySelector(".sheet");
    const search = make("input", { type: "search", id: "search", autocomplete: "off" });
    const marks = [...document.querySelectorAll(".legend .s")].map((one) => [one.className.split(" ")[1], one.textContent]);
    const mark = choose("mark", "every mark", marks);
    const strength = choose("strength", "every strength", ["stated", "derived", "expected", "choice", "observed", "untestable"].map((one) => [one, one]));
    const count = make("p", { role: "status", class: "soft" });
    const sections = [...sheet.querySelectorAll(".text > section")].map((section) => ({ section, link: sheet.querySelector('.contents a[href="#' + section.id + '"]').parentElement }));
    const blocks = [...sheet.querySelectorAll(".block, .text tbody tr")].map((block) => ({
      block, text: block.textContent.toLowerCase(), open: block.querySelector("a[data-quote]") !== null,
      clauses: [...block.querySelectorAll(".clause")].map((one) => ({ mark: one.dataset.mark, strength: one.dataset.strength, text: one.textContent.toLowerCase() })),
    }));
    const all = blocks.reduce((sum, one) => sum + one.clauses.length, 0);
    const filter = () => {
      const text = search.value.trim().toLowerCase();
      const isAll = !text && !mark.value && !strength.value;
      let shown = 0;
      for (const { block, text: whole, open, clauses } of blocks) {
        const fits = clauses.filter((one) => (!mark.value || one.mark === mark.value) && (!strength.value || one.strength === strength.value) && (!text || one.text.includes(text) || whole.includes(text)));
        const isOpen = open && mark.value === "open" && !strength.value && (!text || whole.includes(text));
        block.hidden = !(isAll || fits.length > 0 || isOpen || (!mark.value && !strength.value && whole.includes(text)));
        shown += fits.length;
      }
      for (const { section, link } of sections) {
        const any = [...section.querySelectorAll(".block, tbody tr")].some((block) => !block.hidden);
        section.hidden = !any && !isAll;
        link.hidden = section.hidden;
      }
      count.textContent = shown + " of " + all + " clauses";
    };
    for (const control of [search, mark, strength]) control.addEventListener("input", filter);
    filter();
    sheet.before(make("div", { class: "filters", role: "search" },
      make("label", { for: "search" }, "search", search), make("label", { for: "mark" }, "mark", mark), make("label", { for: "strength" }, "strength", strength)), count);
  }

  function caseList() {
    const search = make("input", { type: "search", id: "case-search", autocomplete: "off" });
    const verdict = choose("verdict", "every verdict", Object.entries(words).filter(([word]) => cases.some((one) => one.verdict === word)));
    const box = make("div", {});
    const count = make("p", { role: "status", class: "soft" });
    const order = Object.keys(words);
    order.push(order.shift());
    const sorted = order.flatMap((word) => cases.filter((one) => one.verdict === word));
    const filter = () => {
      const text = search.value.trim().toLowerCase();
      const found = sorted.filter((one) => (!verdict.value || one.verdict === verdict.value) && (!text || one.id.toLowerCase().includes(text)));
      count.textContent = found.length + " of " + cases.length + " cases";
      box.replaceChildren(some(found, 50, true));
    };
    for (const control of [search, verdict]) control.addEventListener("input", filter);
    filter();
    const section = make("section", { id: "cases", "aria-labelledby": "cases-title" }, make("h2", { id: "cases-title" }, "Case by case"),
      make("div", { class: "filters", role: "search", "aria-label": "cases" }, make("label", { for: "case-search" }, "search", search), make("label", { for: "verdict" }, "verdict", verdict)), count, box,
      data.left > 0 && make("p", { class: "soft" }, "The exchanges of " + data.left + " more cases are in record.jsonl."));
    document.getElementById("timing").before(section);
    document.querySelector('nav a[href="#timing"]').before(make("a", { href: "#cases" }, "Cases"));
    return (id) => {
      search.value = id;
      verdict.value = "";
      filter();
      const found = document.getElementById("case:" + id);
      if (found) found.open = true;
      return found;
    };
  }

  filters();
  const showCase = caseList();

  // Opens the target of a link.
  function follow() {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.startsWith("open:")) {
      const link = [...document.querySelectorAll("#document a[data-quote]")].find((one) => one.getAttribute("href") === "#" + hash);
      const block = link && link.closest("p, td");
      if (block && !block.querySelector(".skeleton") && block.nextElementSibling?.className !== "skeleton") block.tagName === "TD" ? block.append(begin(link)) : block.after(begin(link));
      return;
    }
    let target = document.getElementById(hash);
    if (!target && hash.startsWith("case:")) target = showCase(hash.slice("case:".length));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (hash.startsWith("clause:")) fill(target.closest(".note"));
    // A note hangs below its words, which stay in view.
    const block = target.closest(".block, .text tr");
    (block || target).scrollIntoView({ block: block ? "center" : "start" });
    const box = block && target.closest(".inside");
    if (box) box.scrollTop = target.offsetTop;
    if (target.tabIndex === -1) target.focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", follow);
  // The browser scrolls to the target of the link again after loading.
  window.addEventListener("load", () => requestAnimationFrame(follow));
  follow();
})();
