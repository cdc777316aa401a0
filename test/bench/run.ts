/** Runs the benchmarks named on the command line, or all of them, and prints one JSON value per line. */
import {parseArgs} from 'node:util'
import {benchmarks as ownBenchmarks} from '../../src/bench/index.js'
import {measureStartup} from '../../src/bench/startup.js'
import {adapters} from './adapters.js'
import {ask} from './ask.js'
import {chat} from './chat.js'
import {daemonSubmit} from './daemon-submit.js'
import {dashboard} from './dashboard.js'
import {delegation} from './delegation.js'
import {dialects} from './dialects.js'
import {familyPrompts} from './families.js'
import {generation} from './generation.js'
import {ggufSpeed} from './gguf-speed.js'
import {guide} from './guide.js'
import {hybrids} from './hybrids.js'
import {langHttp} from './lang/http.js'
import {langLive} from './lang/live.js'
import {langQueries} from './lang/queries.js'
import {llm} from './llm.js'
import {llmPeers} from './llm-peers.js'
import {longRecording} from './long-recording.js'
import {maskbench} from './maskbench/maskbench.js'
import {mcpStart} from './mcp-start.js'
import {meshHeartbeat, meshHeartbeatScale} from './mesh/heartbeat.js'
import {meshMessages} from './mesh/messages.js'
import {meshNodes} from './mesh/nodes.js'
import {meshPostgresHeartbeat, meshPostgresHeartbeatScale} from './mesh/postgres/heartbeat.js'
import {meshPostgres} from './mesh/postgres/messages.js'
import {meshPostgresNodes} from './mesh/postgres/nodes.js'
import {meshScale} from './mesh/postgres/scale.js'
import {meshPostgresWakeUp} from './mesh/postgres/wake-up.js'
import {orchestratorDispatch} from './orchestrator/dispatch.js'
import {orchestratorDrain} from './orchestrator/drain.js'
import {orchestratorGates} from './orchestrator/gates.js'
import {orchestratorRouting} from './orchestrator/routing.js'
import {prompt} from './prompt.js'
import {serveNeighbours} from './serve-neighbours.js'
import {serveNeighboursKeys} from './serve-neighbours-keys.js'
import {speechControl} from './speech-control.js'
import {speechStream} from './speech-stream.js'
import {structured} from './structured.js'
import {w4} from './w4.js'
import {whisper} from './whisper.js'
import {workflows} from './workflow.js'

// Node.js 20 reads these certificate authorities at every start, which hides the time of what is measured.
delete process.env.NODE_EXTRA_CA_CERTS

const {signal} = new AbortController()

const benchmarks: Record<string, () => Promise<object>> = {
  ...Object.fromEntries(ownBenchmarks.map(({name, run}) => [name, () => run(signal)])),
  'mcp-start': mcpStart,
  adapters,
  ask,
  generation,
  chat,
  llm,
  prompt,
  'llm-peers': llmPeers,
  gguf: ggufSpeed,
  families: familyPrompts,
  hybrids,
  w4,
  whisper,
  'long-recording': longRecording,
  'speech-stream': speechStream,
  'speech-control': speechControl,
  structured,
  guide,
  'serve-neighbours': serveNeighbours,
  'serve-neighbours-keys': serveNeighboursKeys,
  'lang-http': langHttp,
  'lang-live': langLive,
  'lang-queries': langQueries,
  'orchestrator-routing': orchestratorRouting,
  'orchestrator-dispatch': orchestratorDispatch,
  'orchestrator-drain': orchestratorDrain,
  'orchestrator-gates': orchestratorGates,
  'daemon-submit': daemonSubmit,
  dashboard,
  delegation,
  dialects,
  workflow: workflows,
  'mesh-heartbeat': meshHeartbeat,
  'mesh-heartbeat-scale': meshHeartbeatScale,
  'mesh-messages': meshMessages,
  'mesh-nodes': meshNodes,
  'mesh-postgres': meshPostgres,
  'mesh-postgres-heartbeat': meshPostgresHeartbeat,
  'mesh-postgres-heartbeat-scale': meshPostgresHeartbeatScale,
  'mesh-postgres-nodes': meshPostgresNodes,
  'mesh-postgres-wake-up': meshPostgresWakeUp,
  'mesh-scale': meshScale,
}

const {values: options, positionals} = parseArgs({options: {rounds: {type: 'string'}}, allowPositionals: true})
/**
 * `npm run bench -- startup DIR` also measures an earlier build, whose root folder is DIR, in the same rounds;
 * `--rounds N` sets their number.
 */
const [first, folder, step] = positionals
const earlier = first === 'startup' && benchmarks[folder ?? ''] === undefined ? folder : undefined
const count = options.rounds === undefined ? undefined : Number(options.rounds)
if (count !== undefined && (first !== 'startup' || !Number.isInteger(count) || count < 1))
  throw new Error('--rounds is an option of startup. Use a whole number from 1: startup --rounds 5.')
if (earlier !== undefined || count !== undefined) benchmarks.startup = () => measureStartup(signal, {earlier, count})

/** Needs a folder of data: `npm run bench -- maskbench DIR`, or `DIR STEP` for every n-th schema. */
if (first === 'maskbench') benchmarks.maskbench = () => maskbench(folder ?? '.', Number(step ?? 1))

const asked = first !== undefined && (first === 'maskbench' || earlier !== undefined) ? [first] : positionals
const names = asked.length === 0 ? Object.keys(benchmarks) : asked
for (const name of names) {
  const benchmark = benchmarks[name]
  if (benchmark === undefined) throw new Error(`There is no benchmark ${name}; there are ${Object.keys(benchmarks)}.`)
  process.stdout.write(`${JSON.stringify({benchmark: name, ...(await benchmark())})}\n`)
}
