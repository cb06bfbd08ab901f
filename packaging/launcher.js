#!/usr/bin/env node
// Runs the program of the package for this platform, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@xs2aspec/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "xs2aspec.exe" : "xs2aspec";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `xs2aspec: the package ${name} is not installed. Either there is none for this platform, or npm was told ` +
      "to leave out optional packages.",
  );
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal interrupts both, and the program still writes its reports. It gets other signals from here.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`xs2aspec: ${program} cannot be run: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
