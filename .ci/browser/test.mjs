// The HTML report in a real Chromium: nothing that a target wrote is executed, filters, search and links work, and it is accessible.
// Called with the path of the browser, that of the xs2aspec binary, and a folder to work in.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [chromium, xs2aspec, folder] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const run = (name, more) => {
  const out = join(folder, name);
  try { execFileSync(xs2aspec, ["run", "--quiet", "--seed", "1", "--out", out, ...more], { stdio: "ignore" }); } catch (error) { assert.equal(error.status, 1); }
  return out;
};
const clean = run("clean", []);
const faulty = run("faulty", ["--fault", "periodic.months.duplicate/only-adjacent", "--base", clean]);

// Runs of other sizes: the verdicts of the clean one, those that pass and the others in their share, as often as it takes.
const sized = (name, wanted, keep) => {
  const events = readFileSync(join(clean, "record.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const verdicts = events.filter((event) => event.event === "verdict" && keep(event));
  const made = Array.from({ length: wanted }, (_, at) => ({ ...verdicts[at % verdicts.length], case: `${verdicts[at % verdicts.length].case}/${at}` }));
  // Cases stand in the order of their ids.
  made.sort((one, other) => (one.case < other.case ? -1 : 1));
  const [start, finish] = [events[0], events.at(-1)];
  start.cases = wanted;
  for (const word of Object.keys(finish.counts)) finish.counts[word] = made.filter((one) => one.verdict === word).length;
  const texts = events.filter((event) => ["clause", "source", "profile"].includes(event.event));
  const record = join(folder, `${name}.jsonl`), page = join(folder, `${name}.html`);
  writeFileSync(record, [start, ...texts, ...made, finish].map((event) => JSON.stringify(event) + "\n").join(""));
  execFileSync(xs2aspec, ["report", record, "--format", "html", "--out", page]);
  return page;
};
const passing = sized("passing", 2_000, (one) => one.verdict === "pass");
assert.ok(statSync(passing).size <= 1_000_000, `2,000 passing cases take ${statSync(passing).size} bytes`);
const large = sized("large", 20_000, () => true);

// A record whose every answer attacks its reader.
const attack = '</script><script>window.attacked=1</script><img src=x onerror="window.attacked=1"><svg onload=window.attacked=1>\u202Egnp.\u0000\u001b]0;x\u0007' + "A".repeat(1 << 20);
const lines = readFileSync(join(faulty, "record.jsonl"), "utf8").trimEnd().split("\n").map((line) => {
  const event = JSON.parse(line);
  if (event.event === "run-started") event.target = attack.slice(0, 300);
  if (event.event === "exchange" && event.response && event.case.startsWith("periodic.months.duplicate/")) { event.response.headers.push(["X-Attack", attack]); event.response.body = { text: attack }; }
  if (event.event === "verdict") { event.findings?.forEach((finding) => { finding.actual = attack; finding.at = "body/" + attack; }); event.observations = (event.observations || []).map(() => attack.slice(0, 500)); }
  return JSON.stringify(event);
});
const hostileRecord = join(folder, "hostile.jsonl");
writeFileSync(hostileRecord, lines.join("\n") + "\n");
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
  const visible = (page) => page.$$eval("#ledger tbody tr", (rows) => rows.filter((row) => !row.hidden).map((row) => row.id));

  const whole = await open(join(faulty, "report.html"));
  assert.deepEqual([whole.errors, whole.requests], [[], []]);
  assert.ok(whole.took < 5000, `opened in ${whole.took} ms`);
  assert.match(await whole.page.$eval(".verdict", (one) => one.textContent), /does not conform.*exit 1/);
  const all = await visible(whole.page);
  assert.ok(all.length > 500);
  await whole.page.type("#search", "may not repeat");
  assert.deepEqual(await visible(whole.page), ["clause:periodic.months.duplicate"]);
  await whole.page.$eval("#search", (one) => { one.value = ""; one.dispatchEvent(new Event("input")); });
  await whole.page.select("#verdict", "fail");
  assert.deepEqual(await visible(whole.page), ["clause:periodic.months.duplicate"]);
  await whole.page.select("#verdict", "");
  await whole.page.select("#strength", "untestable");
  const untestable = await visible(whole.page);
  assert.ok(untestable.length > 50 && untestable.length < all.length);
  // With the keyboard alone: a case is opened, and the link to its clause followed.
  await whole.page.focus("#broken details summary");
  await whole.page.keyboard.press("Enter");
  await whole.page.waitForSelector("#broken details[open] .inside pre");
  const shown = await whole.page.$eval("#broken details[open]", (one) => one.textContent);
  assert.match(shown, /month numbers in monthsOfExecution may not repeat/);
  assert.match(shown, /came back201\n/);
  assert.ok(await whole.page.$eval("#broken details[open] mark", (one) => one.textContent.includes("201") || one.textContent.includes("monthsOfExecution") || one.textContent.includes("frequency")));
  const linked = await open(join(faulty, "report.html"), "#case:periodic.months.duplicate/2-apart");
  assert.ok(await linked.page.$eval('[id="case:periodic.months.duplicate/2-apart"]', (one) => one.open));

  assert.match(await whole.page.$eval("#changes", (one) => one.textContent), /[1-9][0-9]* newly broken, 0 fixed.*Newly broken.*periodic\.months\.duplicate\//s);
  // Kept, broken and the rest are those of the record.
  const verdicts = readFileSync(join(faulty, "record.jsonl"), "utf8").split("\n").filter((line) => line.includes('"event":"verdict"')).map((line) => JSON.parse(line)).filter((one) => one.role === "selected");
  const numbers = await whole.page.$$eval(".strengths td.number", (cells) => cells.map((cell) => Number(cell.textContent)));
  const column = (at) => numbers.filter((_, cell) => cell % 5 === at).reduce((sum, number) => sum + number, 0);
  const count = (...words) => verdicts.filter((one) => words.includes(one.verdict)).length;
  assert.deepEqual([0, 1, 2, 3, 4].map(column), [count("pass"), count("fail", "waived"), count("warn"), count("inconclusive", "error", "not-applicable"), count("observed")]);

  const many = await open(large);
  assert.ok(many.took < 4000, `20,000 cases opened in ${many.took} ms`);
  assert.match(await many.page.$eval("header", (one) => one.textContent), /20000 cases|20,000 cases/);
  assert.deepEqual(many.errors, []);

  const attacked = await open(hostile);
  for (const one of await attacked.page.$$("#broken details summary")) await one.evaluate((element) => element.click());
  await attacked.page.waitForSelector("#broken details[open] .inside");
  assert.equal(await attacked.page.evaluate(() => window.attacked), undefined);
  assert.equal((await attacked.page.$$("main script, main img, main svg")).length, 0);
  assert.deepEqual([attacked.errors, attacked.requests], [[], []]);
  assert.ok(!(await attacked.page.content()).includes("\u202E"));
  assert.match(await attacked.page.$eval("#broken", (one) => one.textContent), /<img src=x onerror/);
  // The policy holds by itself: a script that got in would not run.
  await attacked.page.evaluate(() => { const script = document.createElement("script"); script.textContent = "window.attacked=1"; document.body.append(script); });
  assert.equal(await attacked.page.evaluate(() => window.attacked), undefined);

  for (const scheme of ["light", "dark"]) {
    const page = await browser.newPage();
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setBypassCSP(true);
    await page.goto(pathToFileURL(join(faulty, "report.html")).href);
    await page.$eval("#broken details summary", (one) => one.click());
    await page.addScriptTag({ path: axe });
    const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
    const problems = found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
    assert.deepEqual(problems, [], scheme);
  }
  console.log(`report.html: ${all.length} statements, opened in ${whole.took} ms, 20,000 cases (${statSync(large).size} bytes) in ${many.took} ms, 2,000 passing cases in ${statSync(passing).size} bytes; nothing executed, accessible in light and dark`);
} finally {
  await browser.close();
}
