/**
 * Test files that only `npm run test:all` runs, by what they test. Each of these modules has its core behaviour tested in
 * other files: the second tier repeats it with other parts, or for every setting.
 */
export const secondTier: Readonly<Record<string, readonly string[]>> = {
  'the commands of the guides': ['docs/guides.test', 'examples/readme.test', 'examples/files.test'],
  'pages in a browser': ['mesh/dashboard/page.test', 'speech-server/page.test'],
  'the mesh on PostgreSQL': [
    'examples/mesh-fleet.test',
    'faults/prove/prove-postgres.test',
    'mesh/control-plane/two-planes.test',
    'mesh/store/postgres.test',
    'mesh/store/postgres/clock.test',
    'mesh/store/postgres/open.test',
    'mesh/store/postgres/proxy.test',
    'mesh/store/postgres/replicas.test',
    'mesh/store/switch.test',
    'mesh/store/transfer.test',
  ],
  'the effect of each setting, and the hint of each error': [
    'commands/orch-settings.test',
    'errors/hints.test',
    'speech/constraint-settings.test',
  ],
  'servers compared with their documents, route by route': [
    'mesh/control-plane/route-walk.test',
    'serve/openapi.test',
    'speech-server/openapi.test',
  ],
  'random, damaged and killed work in many variants': [
    'audio/damage-campaign.test',
    'audio/damage.test',
    'commands/mesh-prove.test',
    'faults/orchestrator/clock.test',
    'faults/orchestrator/gates.test',
    'faults/orchestrator/inference.test',
    'faults/orchestrator/leftovers.test',
    'faults/orchestrator/planted.test',
    'faults/orchestrator/store.test',
    'faults/prove/injected-bugs.test',
    'lang/fuzz.test',
    'mcp/kill.test',
    'messages/races.test',
    'plans/atomic.test',
    'tasks/completion/false-claims.test',
    'workflow/crash.test',
  ],
  'processes that use the same files, and clients that do not read': [
    'commands/db-neighbours.test',
    'commands/file-neighbours.test',
    'daemon/back-pressure.test',
    'mesh/node/announce.test',
  ],
  'a whole story over MCP': ['mcp/story.test'],
  'speech networks of other sizes and formats': [
    'speech/whisper/batches.test',
    'speech/whisper/decoder-logits.test',
    'speech/whisper/formats.test',
    'speech/whisper/ggml-import.test',
  ],
  'benchmarks, and the tools of the tests': [
    'bench/benchmarks.test',
    'commands/bench.test',
    'runner/workers.test',
    'scripts/release.test',
    'support/svc-in-turn.test',
  ],
}
