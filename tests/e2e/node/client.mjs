// Plays a plan against a server over stdio with the TypeScript SDK, and prints what came back as JSON.
// Usage: node client.mjs PLAN.json COMMAND [ARGUMENT...]

import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [planFile, command, ...args] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(planFile, "utf8"));

const results = {};
const resolve = (value) => {
  if (Array.isArray(value)) return value.map(resolve);
  if (value === null || typeof value !== "object") return value;
  if (value.$from) return results[value.$from[0]][value.$from[1]];
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
};

const client = new Client({ name: "uniko-mcp-e2e", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));

const played = {
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  prompts: (await client.listPrompts()).prompts,
  templates: (await client.listResourceTemplates()).resourceTemplates,
  calls: [],
  reads: [],
  gets: [],
};
for (const step of plan.tools) {
  const result = await client.callTool({ name: step.name, arguments: resolve(step.arguments) });
  results[step.name] = result.structuredContent;
  played.calls.push(result);
}
played.resources = (await client.listResources()).resources;
for (const uri of plan.resources) played.reads.push(await client.readResource({ uri }));
for (const prompt of plan.prompts) played.gets.push(await client.getPrompt(prompt));
await client.close();

process.stdout.write(JSON.stringify(played));
