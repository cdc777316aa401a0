import {SvcError} from '../errors/index.js'

/** A program that records from a microphone and writes raw PCM, s16le mono at 16 kHz, to standard output. */
interface Recorder {
  program: string
  /** @param device name of the microphone; undefined: the default one */
  args(device: string | undefined): string[]
  env?(device: string | undefined): Record<string, string>
  /** Command that lists the microphones. */
  list?: readonly [program: string, ...args: string[]]
}

const option = (flag: string, device: string | undefined) => (device === undefined ? [] : [flag, device])

const ffmpegOutput = ['-ac', '1', '-ar', '16000', '-f', 's16le', 'pipe:1']
const ffmpeg = (format: string, input: (device: string | undefined) => string): Recorder => ({
  program: 'ffmpeg',
  args: (device) => ['-nostdin', '-v', 'error', '-f', format, '-i', input(device), ...ffmpegOutput],
  list: ['ffmpeg', '-hide_banner', '-f', format, '-list_devices', 'true', '-i', ''],
})

const sox: Recorder = {
  program: 'rec',
  args: () => ['-q', '-t', 'raw', '-b', '16', '-e', 'signed-integer', '-L', '-r', '16000', '-c', '1', '-'],
  // SoX has no flag for the device.
  env: (device): Record<string, string> => (device === undefined ? {} : {AUDIODEV: device}),
}

const pipewire = (...raw: string[]): Recorder => ({
  program: 'pw-record',
  args: (device) => [
    ...raw,
    ...['--rate', '16000', '--channels', '1', '--format', 's16'],
    ...option('--target', device),
    '-',
  ],
  list: ['pw-record', '--list-targets'],
})

const linux: readonly Recorder[] = [
  // Versions before 1.4 have no --raw; later ones need it to write to a pipe.
  pipewire('--raw'),
  pipewire(),
  {
    program: 'arecord',
    args: (device) => [...['-q', '-t', 'raw', '-f', 'S16_LE', '-r', '16000', '-c', '1'], ...option('-D', device)],
    list: ['arecord', '-L'],
  },
  {
    program: 'parecord',
    args: (device) => [
      ...['--raw', '--format=s16le', '--rate=16000', '--channels=1'],
      ...(device === undefined ? [] : [`--device=${device}`]),
    ],
    list: ['pactl', 'list', 'short', 'sources'],
  },
  sox,
  {...ffmpeg('pulse', (device) => device ?? 'default'), list: ['ffmpeg', '-hide_banner', '-sources', 'pulse']},
]

/** In the order in which they are tried. */
const recorders: Partial<Record<NodeJS.Platform, readonly Recorder[]>> = {
  darwin: [sox, ffmpeg('avfoundation', (device) => `:${device ?? 'default'}`)],
  win32: [sox, ffmpeg('dshow', (device) => `audio=${device ?? 'default'}`)],
}

const available = () => recorders[process.platform] ?? linux

const names = () => [...new Set(available().map(({program}) => program))]

/**
 * Records from a microphone until the signal aborts or the caller stops reading. Uses the first program that records.
 * @returns raw PCM, s16le mono at 16 kHz
 * @throws recorder_missing if no program is installed; recorder_failed if none records or one stops on its own
 */
export async function* recordMicrophone(device: string | undefined, signal: AbortSignal): AsyncGenerator<Buffer> {
  let reason: {program: string; reason: string} | undefined
  for (const recorder of available()) {
    const failure = yield* record(recorder, device, signal)
    if (signal.aborted) return
    if (failure === undefined) continue
    reason ??= {program: recorder.program, reason: failure.reason}
    if (failure.recorded) throw new SvcError('recorder_failed', {program: recorder.program, reason: failure.reason})
  }
  throw reason === undefined
    ? new SvcError('recorder_missing', {programs: names()})
    : new SvcError('recorder_failed', reason)
}

/** Returns why the program stopped; undefined if it is not installed. */
async function* record(
  {program, args, env}: Recorder,
  device: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer, {recorded: boolean; reason: string} | undefined> {
  const {execa} = await import('execa')
  // With an aborted signal, a program that is not installed would be "killed" as process 0: our own group.
  if (signal.aborted) return undefined
  const child = execa(program, args(device), {
    stdin: 'ignore',
    buffer: {stdout: false},
    encoding: 'buffer',
    env: env?.(device) ?? {},
    reject: false,
    cancelSignal: signal,
    forceKillAfterDelay: 1000,
  })
  if (child.pid === undefined)
    return (await child).code === 'ENOENT' ? undefined : {recorded: false, reason: 'it cannot be started'}
  let recorded = false
  try {
    for await (const piece of child.stdout) {
      recorded = true
      yield piece as Buffer
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    child.kill()
  }
  const {exitCode, stderr} = await child
  const text = Buffer.from(stderr).toString('utf8').trim().split('\n').at(-1) ?? ''
  return {recorded, reason: text === '' ? `it exited with status ${exitCode ?? 'unknown'}` : text}
}

/**
 * Lists the microphones, as the first installed program prints them.
 * @throws recorder_missing, recorder_failed
 */
export async function listMicrophones(signal: AbortSignal): Promise<{program: string; text: string}> {
  const {execa} = await import('execa')
  for (const {program, list} of available()) {
    if (list === undefined) continue
    const [lister, ...args] = list
    signal.throwIfAborted()
    const {code, exitCode, stdout, stderr} = await execa(lister, args, {
      stdin: 'ignore',
      reject: false,
      cancelSignal: signal,
      timeout: 10_000,
      maxBuffer: 1 << 20,
    })
    signal.throwIfAborted()
    if (code === 'ENOENT') continue
    // ffmpeg lists devices on standard error, and exits with an error.
    const text = stdout.trim() === '' ? stderr.trim() : stdout.trim()
    if (text !== '') return {program, text}
    throw new SvcError('recorder_failed', {program: lister, reason: `it exited with status ${exitCode ?? 'unknown'}`})
  }
  throw new SvcError('recorder_missing', {programs: names()})
}
