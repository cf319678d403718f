// Compiles the contracts that are named with solc of the tools' folder: node compile.js TOOLS FILE... > artefacts
const fs = require("fs");
const path = require("path");
const [tools, ...files] = process.argv.slice(2);
const solc = require(path.join(tools, "node_modules", "solc"));
const sources = Object.fromEntries(
  files.map((file) => [path.basename(file), { content: fs.readFileSync(file, "utf8") }]),
);
const settings = { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } }, evmVersion: "paris" };
const out = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })));
const wrong = (out.errors || []).filter((error) => error.severity === "error");
if (wrong.length) {
  console.error(wrong.map((error) => error.formattedMessage).join("\n"));
  process.exit(1);
}
const found = {};
for (const contracts of Object.values(out.contracts)) {
  for (const [name, made] of Object.entries(contracts)) {
    found[name] = { abi: made.abi, bytecode: "0x" + made.evm.bytecode.object };
  }
}
console.log(JSON.stringify(found));
