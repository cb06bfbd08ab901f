// The HTML report in a real Chromium: each view works with and without its script, by keyboard and on a narrow screen; it prints; nothing
// that a target wrote is executed; it is accessible.
// Called with the path of the browser, that of the xs2aspec binary, and a folder to work in.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import puppeteer from "puppeteer-core";

const [chromium, program, folder] = process.argv.slice(2);
const xs2aspec = resolve(program);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const run = (name, more) => {
  const out = join(folder, name);
  try { execFileSync(xs2aspec, ["run", "--quiet", "--seed", "1", "--out", out, ...more], { stdio: "ignore" }); } catch (error) { assert.equal(error.status, 1); }
  return out;
};
// The number of required clauses that passed, as the terminal prints it.
const kept = (out) => {
  const said = execFileSync(xs2aspec, ["report", out, "--format", "terminal"], { encoding: "utf8" });
  return said.match(/required clauses: (\d+) passed/)[1];
};
const clean = run("clean", []);
const faulty = run("faulty", ["--fault", "periodic.months.duplicate/only-adjacent", "--base", clean]);

// The lines of a record with its hash chain, as reports/README.md has it.
const digest = (text) => createHash("sha256").update(text).digest("hex");
const chained = (events) => {
  let link = "", text = "";
  for (const { chain, ...event } of events) {
    let line = JSON.stringify(event);
    if (event.event === "run-finished") line = `${line.slice(0, -1)},"chain":"${digest(link + line)}"}`;
    text += line + "\n";
    link = digest(link + line + "\n");
  }
  return text;
};

// The record of a finished run.
const recorded = (run) => gunzipSync(readFileSync(join(run, "record.jsonl.gz"))).toString("utf8");

// Runs of other sizes: the verdicts of the clean one, those that pass and the others in their share, as often as it takes.
const sized = (name, wanted, keep) => {
  const events = recorded(clean).trimEnd().split("\n").map((line) => JSON.parse(line));
  const verdicts = events.filter((event) => event.event === "verdict" && keep(event));
  const made = Array.from({ length: wanted }, (_, at) => ({ ...verdicts[at % verdicts.length], case: `${verdicts[at % verdicts.length].case}/${at}` }));
  // Cases stand in the order of their ids.
  made.sort((one, other) => (one.case < other.case ? -1 : 1));
  const [start, finish] = [events[0], events.at(-1)];
  start.cases = wanted;
  for (const word of Object.keys(finish.counts)) finish.counts[word] = made.filter((one) => one.verdict === word).length;
  const texts = events.filter((event) => ["document", "clause", "source", "profile"].includes(event.event));
  const record = join(folder, `${name}.jsonl`), page = join(folder, `${name}.html`);
  writeFileSync(record, chained([start, ...texts, ...made, finish]));
  execFileSync(xs2aspec, ["report", record, "--format", "html", "--out", page]);
  return page;
};
const passing = sized("passing", 2_000, (one) => one.verdict === "pass");
assert.ok(statSync(passing).size <= 1_000_000, `2,000 passing cases take ${statSync(passing).size} bytes`);
for (const out of [clean, faulty]) {
  const { size } = statSync(join(out, "report.html"));
  assert.ok(size <= 1_500_000, `a standard run takes ${size} bytes`);
}
const large = sized("large", 20_000, () => true);

// A record whose every answer attacks its reader.
const attack = '</script><script>window.attacked=1</script><img src=x onerror="window.attacked=1"><svg onload=window.attacked=1>\u202Egnp.\u0000\u001b]0;x\u0007' + "A".repeat(1 << 20);
const lines = recorded(faulty).trimEnd().split("\n").map((line) => {
  const event = JSON.parse(line);
  if (event.event === "run-started") event.target = attack.slice(0, 300);
  if (event.event === "exchange" && event.response && event.case.startsWith("periodic.months.duplicate/")) { event.response.headers.push(["X-Attack", attack]); event.response.body = { text: attack }; }
  if (event.event === "verdict") { event.findings?.forEach((finding) => { finding.actual = attack; finding.at = "body/" + attack; }); event.observations = (event.observations || []).map(() => attack.slice(0, 500)); }
  return event;
});
const hostileRecord = join(folder, "hostile.jsonl");
writeFileSync(hostileRecord, chained(lines));
const hostile = join(folder, "hostile.html");
execFileSync(xs2aspec, ["report", hostileRecord, "--format", "html", "--out", hostile]);

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const open = async (file, hash = "") => {
    const page = await browser.newPage();
    const errors = [], requests = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
    page.on("request", (request) => { if (!request.url().startsWith("file:")) requests.push(request.url()); });
    const start = Date.now();
    await page.goto(pathToFileURL(file).href + hash, { waitUntil: "load" });
    return { page, errors, requests, took: Date.now() - start };
  };
  const whole = await open(join(faulty, "report.html"));
  assert.deepEqual([whole.errors, whole.requests], [[], []]);
  assert.match(await whole.page.$eval(".verdict", (one) => one.textContent), /does not conform.*exit 1/);

  // The document: each clause once, the broken sentence marked, filters and search.
  const statements = (page) => page.$$eval("#document .clause", (all) => all.filter((one) => !one.closest("[hidden]")).map((one) => one.id));
  const all = await statements(whole.page);
  const clauses = recorded(faulty).split("\n").filter((line) => line.includes('"event":"clause"')).map((line) => `clause:${JSON.parse(line).id}`);
  assert.deepEqual([...all].sort(), clauses.sort());
  const sentence = 'a.s.denied[href="#clause:periodic.months.duplicate"]:not(.row)';
  assert.match(await whole.page.$eval(sentence, (one) => one.textContent), /duplicates are rejected/);
  await whole.page.type("#search", "contains duplicates");
  assert.ok((await statements(whole.page)).includes("clause:periodic.months.duplicate") && (await statements(whole.page)).length < 30);
  await whole.page.$eval("#search", (one) => { one.value = ""; one.dispatchEvent(new Event("input")); });
  await whole.page.select("#mark", "denied");
  assert.match(await whole.page.$eval("#document [role=status]", (one) => one.textContent), /^1 of /);
  assert.ok((await statements(whole.page)).length < 30);
  await whole.page.select("#mark", "");
  await whole.page.select("#strength", "untestable");
  const untestable = await whole.page.$eval("#document [role=status]", (one) => parseInt(one.textContent, 10));
  assert.ok(untestable > 50 && untestable < all.length);
  await whole.page.select("#strength", "");
  // The matrix, the lists of codes and the contents are coloured.
  assert.ok((await whole.page.$$(".matrix .cell .s.kept")).length > 50);
  assert.ok((await whole.page.$$(".words .w.kept")).length > 300);
  assert.equal((await whole.page.$$(".contents li")).length, (await whole.page.$$(".text > section")).length);
  assert.ok(await whole.page.$eval('.contents a[href="#section:0"]', (one) => one.nextElementSibling === null || one.nextElementSibling.tagName === "svg"));
  // With the keyboard alone: a sentence leads to its note, a case in it opens, Escape closes it.
  await whole.page.focus(sentence);
  await whole.page.keyboard.press("Enter");
  await whole.page.waitForSelector('.note[open] [id="clause:periodic.months.duplicate"] .case');
  await whole.page.focus('[id="clause:periodic.months.duplicate"] .case summary');
  await whole.page.keyboard.press("Enter");
  await whole.page.waitForSelector(".note[open] .case[open] .inside pre");
  assert.match(await whole.page.$eval(".note[open] .case[open]", (one) => one.textContent), /monthsOfExecution/);
  await whole.page.keyboard.press("Escape");
  assert.equal((await whole.page.$$(".note[open]")).length, 0);
  // What no clause speaks of has a skeleton, which `scaffold` takes.
  const link = await whole.page.$("#document .block a[data-quote]");
  await link.evaluate((one) => one.click());
  await whole.page.waitForSelector("#document .skeleton");
  const skeleton = await whole.page.$eval("#document .skeleton", (one) => one.textContent);
  const command = skeleton.match(/xs2aspec (scaffold \S+ --quote) '(.*)'$/s);
  cpSync("cases", join(folder, "cases"), { recursive: true });
  const asked = command[1].split(" ").map((word) => (word.endsWith(".to-be-named") ? "periodic.months.to-be-named" : word));
  // In its own folder: it writes into the files that it names.
  execFileSync(xs2aspec, [...asked, command[2].replaceAll("'\\''", "'"), "--cases", "cases"], { stdio: "ignore", cwd: folder });

  // A finding: the document, the request, the answer and the accepted twin side by side, what matters marked and in view, each box from its top.
  const finding = await whole.page.$eval(".finding", (one) => one.textContent);
  for (const words of ["duplicates are rejected", "expected a rejection (4xx), got 201", "accepted: the control", "xs2aspec explain ", "xs2aspec curl ", "xs2aspec run --only periodic.months.duplicate/"]) assert.ok(finding.includes(words), words);
  assert.ok(!finding.includes("${"));
  assert.equal((await whole.page.$$(".finding")).length, 1);
  for (const [at, words] of [[0, /monthsOfExecution/], [1, /^201$/], [2, /monthsOfExecution/]]) {
    const [marked, isInView] = await whole.page.$$eval(".finding .sides pre", (all, at) => {
      const pre = all[at], mark = pre.querySelector("mark");
      const [box, line] = [pre, mark].map((one) => one.getBoundingClientRect());
      return [mark.textContent, pre.scrollTop === 0 && line.top >= box.top && line.top < box.bottom];
    }, at);
    assert.match(marked, words);
    assert.ok(isInView, `what is marked in part ${at} is in view`);
  }
  // Links can be shared.
  for (const [hash, opened] of [["#case:periodic.months.duplicate/2-apart", ".case[open]"], ["#clause:periodic.months.duplicate", ".note[open]"]]) {
    const linked = await open(join(faulty, "report.html"), hash);
    assert.ok(await linked.page.evaluate((id, opened) => document.getElementById(id).closest(opened) !== null, hash.slice(1), opened), hash);
  }

  assert.match(await whole.page.$eval("#changes", (one) => one.textContent), /[1-9][0-9]* newly failing, 0 fixed.*Newly failing.*periodic\.months\.duplicate\//s);
  // Kept, broken and the rest are those of the record.
  const verdicts = recorded(faulty).split("\n").filter((line) => line.includes('"event":"verdict"')).map((line) => JSON.parse(line)).filter((one) => one.role === "selected");
  const numbers = await whole.page.$$eval(".strengths td.number", (cells) => cells.map((cell) => Number(cell.textContent)));
  const column = (at) => numbers.filter((_, cell) => cell % 5 === at).reduce((sum, number) => sum + number, 0);
  const count = (...words) => verdicts.filter((one) => words.includes(one.verdict)).length;
  assert.deepEqual([0, 1, 2, 3, 4].map(column), [count("pass"), count("fail", "waived"), count("warn"), count("inconclusive", "error", "not-applicable"), count("observed")]);

  const many = await open(large);
  assert.ok(many.took < 1000, `20,000 cases opened in ${many.took} ms`);
  assert.match(await many.page.$eval("#tested", (one) => one.textContent), /20000 cases/);
  assert.match(await many.page.$eval("#cases [role=status]", (one) => one.textContent), /^20000 of 20000 cases/);
  assert.deepEqual(many.errors, []);

  const attacked = await open(hostile);
  await attacked.page.select("#verdict", "fail");
  for (const one of await attacked.page.$$("#cases .case summary, .note summary")) await one.evaluate((element) => element.click());
  await attacked.page.waitForSelector("#cases .case[open] .inside");
  assert.equal(await attacked.page.evaluate(() => window.attacked), undefined);
  assert.equal((await attacked.page.$$("main script, main img, main svg:not(.bar), main svg *:not(rect)")).length, 0);
  assert.deepEqual([attacked.errors, attacked.requests], [[], []]);
  assert.ok(!(await attacked.page.content()).includes("\u202E"));
  assert.match(await attacked.page.$eval("#findings", (one) => one.textContent), /<img src=x onerror/);
  // The policy holds by itself: a script that got in would not run.
  await attacked.page.evaluate(() => { const script = document.createElement("script"); script.textContent = "window.attacked=1"; document.body.append(script); });
  assert.equal(await attacked.page.evaluate(() => window.attacked), undefined);

  // Without its script, as under the policy of Jenkins, everything essential is there.
  const bare = await browser.newPage();
  await bare.setJavaScriptEnabled(false);
  await bare.goto(pathToFileURL(join(faulty, "report.html")).href);
  const essential = await bare.$eval("main", (one) => one.innerText);
  for (const words of ["does not conform", `${kept(faulty)}\n`, "SHA-256", "How good the suite is", "What this suite does not test", "Every test of these clauses passed", "No conforming bank does this", "duplicates are rejected", "expected a rejection (4xx)", "paymentId", "search and open cases, allow the script"]) assert.ok(essential.includes(words), words);
  await bare.click(sentence.replace(":not(.row)", ""));
  assert.ok(await bare.$eval('[id="clause:periodic.months.duplicate"]', (one) => one.checkVisibility()), "a note opens without a script");

  // A clean run is at most 20 pages on paper; no word is broken in a column, and nothing is wider than a narrow screen.
  const paper = await open(join(clean, "report.html"));
  const pdf = Buffer.from(await paper.page.pdf({ format: "A4", printBackground: true })).toString("latin1");
  const pages = pdf.match(/\/Type\s*\/Page[^s]/g).length;
  assert.ok(pages > 5 && pages <= 20, `${pages} pages`);
  // A finding is on one page, and paper has no triangles of what cannot be opened.
  const print = await open(join(faulty, "report.html"));
  await print.page.emulateMediaType("print");
  await print.page.setViewport({ width: 688, height: 1017 });
  assert.ok(await print.page.$eval(".finding", (one) => one.getBoundingClientRect().height < 1017 && getComputedStyle(one).breakInside === "avoid"));
  assert.deepEqual(await print.page.$$eval("summary", (all) => all.filter((one) => one.checkVisibility() && getComputedStyle(one).display === "list-item" && getComputedStyle(one).listStyleType !== "none").length), 0);
  for (const width of [360, 800, 1400]) {
    await paper.page.setViewport({ width, height: 900 });
    assert.equal(await paper.page.evaluate(() => document.documentElement.scrollWidth), width);
    const broken = await paper.page.evaluate(() => {
      const found = [];
      for (const cell of document.querySelectorAll("td, th, .block > p, dd:not(:has(.digest)), dt, summary")) {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
          if (!text.parentElement.checkVisibility()) continue;
          for (const word of text.textContent.matchAll(/[A-Za-z0-9]+/g)) {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word[0]);
          }
        }
      }
      return found;
    });
    assert.deepEqual(broken, [], `at ${width} pixels`);
  }

  for (const [scheme, media] of [["light", "screen"], ["dark", "screen"], ["light", "print"]]) {
    const page = await browser.newPage();
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.emulateMediaType(media);
    await page.setBypassCSP(true);
    await page.goto(pathToFileURL(join(faulty, "report.html")).href + "#clause:periodic.months.duplicate");
    await page.addScriptTag({ path: axe });
    const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
    const problems = found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120) + " " + node.failureSummary).join(" | ")}`);
    assert.deepEqual(problems, [], `${scheme}, ${media}`);
  }
  console.log(`report.html: ${all.length} statements, opened in ${whole.took} ms, ${pages} pages on paper, 20,000 cases (${statSync(large).size} bytes) in ${many.took} ms, 2,000 passing cases in ${statSync(passing).size} bytes; nothing executed, accessible in light, dark and print`);
} finally {
  await browser.close();
}
