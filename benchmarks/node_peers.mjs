// Compresses tools with an npm package of the working folder: {package, options, catalogs} in, what is sent out.
//
//   node --input-type=module -e "$(cat benchmarks/node_peers.mjs)" < request.json
//
// Each entry of `makers` gives the catalog, all that is sent, and how long one call takes on its way back, where the
// package has such a way. Times are milliseconds.
import { readFileSync } from "node:fs";

const request = JSON.parse(readFileSync(0, "utf8"));
const compact = (value) => JSON.stringify(value);
const openai = (tools) => tools.map((tool) => ({ type: "function", function: tool }));
const mcp = (tools) => tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));

const makers = {
  "@toon-format/toon": ({ encode }) => (tools) => ({ catalog: encode(tools), sent: [encode(tools)] }),
  "@tscg/core": ({ compress }) => (tools, options) => {
    const text = compress(openai(tools), options).compressed;
    return { catalog: text, sent: [text] };
  },
  toolgz: ({ compress }) => (tools, options) => {
    const made = compress(mcp(tools), options);
    const wire = made.tools.map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema }));
    const sent = [made.systemPreamble, compact(openai(wire))].filter(Boolean);
    return { catalog: made.systemPreamble || compact(openai(wire)), sent, made };
  },
};

const timed = (work) => {
  const begin = performance.now();
  const result = work();
  return [performance.now() - begin, result];
};
const unseen = (tools, mark) => tools.map((tool) => ({ ...tool, description: `${tool.description} Revision ${mark}.` }));

const make = makers[request.package](await import(request.package));
const all = (catalogs) => catalogs.map((tools) => make(tools, request.options ?? {}));
const [first, results] = timed(() => all(request.catalogs));
const changed = Math.min(...[1, 2, 3, 4, 5].map((mark) => {
  const catalogs = request.catalogs.map((tools) => unseen(tools, mark));
  return timed(() => all(catalogs))[0];
}));
const again = Math.min(...[1, 2, 3, 4, 5].map(() => timed(() => all(request.catalogs))[0]));

// The package's own test aid writes the call that a model would send.
const calls = (request.calls ?? []).flatMap((list, place) => {
  const made = results[place].made;
  return made ? list.map(({ name, arguments: given }) => ({ made, ...made.encodeCallForTest(name, given) })) : [];
});
const resolve = () => calls.forEach(({ made, name, args }) => made.resolve(name, args));
const back = calls.length ? Math.min(...[1, 2, 3].map(() => timed(resolve)[0])) / calls.length : null;

console.log(compact({
  shown: results.map(({ catalog, sent }) => ({ catalog, sent })),
  times: { first, changed, again, resolve: back },
}));
