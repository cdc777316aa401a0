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
    'mesh/store/postgres/replicas.test',
    'mesh/store/switch.test',
    'mesh/store/transfer.test',
  ],
  'the effect of each setting': ['commands/orch-settings.test'],
  'random, damaged and killed work in many variants': [
    'audio/damage-campaign.test',
    'commands/mesh-prove.test',
    'faults/orchestrator/clock.test',
    'faults/orchestrator/leftovers.test',
    'faults/orchestrator/planted.test',
    'faults/prove/injected-bugs.test',
    'lang/fuzz.test',
    'mcp/kill.test',
    'messages/races.test',
    'workflow/crash.test',
  ],
  'processes that use the same files': ['commands/db-neighbours.test', 'commands/file-neighbours.test'],
  'speech networks on windows of many sizes': ['speech/whisper/batches.test'],
  'benchmarks, and the tools of the tests': [
    'bench/benchmarks.test',
    'commands/bench.test',
    'runner/workers.test',
    'scripts/release.test',
    'support/svc-in-turn.test',
  ],
}
