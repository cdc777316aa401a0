import {resolve} from 'node:path'
import {
  adviceOf,
  type Check,
  type CheckFinding,
  checkCache,
  checkDecoders,
  checkEngine,
  checkFfmpeg,
  formatFindings,
  runCheck,
  SpeechCommand,
} from '../../src/cli/index.js'
import {
  hubSettings,
  ideSettings,
  speechRefineSettings,
  speechRuntime,
  speechRuntimeFaults,
  speechServerSettings,
  speechSessionSettings,
  speechSettings,
  speechSummary,
} from '../../src/config/index.js'
import type {SpeechDoctorV1} from '../../src/contracts/index.js'
import {Exit} from '../../src/errors/index.js'

export default class SpeechDoctor extends SpeechCommand<typeof SpeechDoctor> {
  static override summary = 'Check the speech recognition setup.'
  static override description =
    `Checks ONNX Runtime with a small graph, the model, the audio decoders, the model cache, the settings and the file of
SVC_SPEECH_CANARY_KPI. Does not access the network. If a check fails, prints a fix and exits with status 1.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    `<%= config.bin %> <%= command.id %> --json | jq '.checks[] | select(.ok | not)'`,
  ]

  async run(): Promise<void> {
    const values = {
      ...this.settings(speechSettings),
      ...this.settings(speechRefineSettings),
      ...this.settings(speechSessionSettings),
      ...this.settings(hubSettings),
    }
    const checks: Record<string, Check> = {
      status_summary: () => ({state: 'ok', value: speechSummary(values)}),
      engine: () => checkEngine(values.device),
      model: () => this.checkModel(),
      runtime_config: () => checkRuntime(speechRuntimeFaults(speechRuntime(values))),
      canary_kpi: () => checkQuality(this.settings(speechServerSettings).canaryKpi),
      decoders: checkDecoders,
      ffmpeg: checkFfmpeg,
      cache: async () => checkCache(resolve(await this.cacheFolder())),
      ide_context: () => describeEditor(this.settings(ideSettings)),
    }
    const findings: (CheckFinding & {name: string})[] = []
    for (const [name, check] of Object.entries(checks)) findings.push({name, ...(await runCheck(check))})
    const result: SpeechDoctorV1 = {
      checks: findings.map(({name, state, value, fix}) => ({
        name,
        ok: state !== 'failed',
        value: fix === undefined ? value : `${value} ${adviceOf(fix)}`,
      })),
      result: findings.some(({state}) => state === 'failed') ? 'failed' : 'ok',
    }
    await this.output.result(result, () => `${formatFindings(findings, process.stdout.columns)}${result.result}\n`)
    if (result.result === 'failed') this.exit(Exit.failed)
  }
}

const checkRuntime = (faults: readonly string[]): CheckFinding =>
  faults.length === 0 ? {state: 'ok', value: 'settings are consistent'} : {state: 'failed', value: faults.join(' ')}

/** Checks the file of SVC_SPEECH_CANARY_KPI, without which svc speech serve does not start. */
async function checkQuality(path: string | undefined): Promise<CheckFinding> {
  if (path === undefined) return {state: 'ok', value: 'no measurements are required'}
  const {requireKpis} = await import('../../src/speech/index.js')
  const checked = await requireKpis(path)
  return {state: 'ok', value: `${checked.length} measurements in ${path} are within their limits`}
}

interface Editor {
  activeFile: string | undefined
  activeLine: number | undefined
  activeSymbol: string | undefined
}

/** The editor position that spoken commands refer to. No open file is not an error. */
function describeEditor({activeFile, activeLine, activeSymbol}: Editor): CheckFinding {
  if (activeFile === undefined) return {state: 'ok', value: 'no file is open in the editor'}
  const line = activeLine === undefined ? '' : `:${activeLine}`
  return {state: 'ok', value: `${activeFile}${line}${activeSymbol === undefined ? '' : ` in ${activeSymbol}`}`}
}
