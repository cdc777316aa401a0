/** Files and recordings: sends them to the server and shows their transcript. */
import {byId, setHidden, setText, toast} from '../../../pages/parts/elements.js'
import {download, exportTranscript} from './export.js'
import {LiveClient} from './live.js'
import {openMicrophone} from './microphone.js'
import {endPartial, showPartial} from './partial.js'
import {followTime, openAudio, playFrom, showWaveform, waveform} from './player.js'
import {decodeFile, Recording, rate, waveFile} from './recording.js'
import {send, Unreachable} from './server.js'
import {addSegments, clearTranscript, clock, followSelection, highlight, shownSegments} from './transcript.js'

/** Name of the current audio, without its extension. */
let name = 'transcript'
/** Whether the model returns word times; known after the first file. */
let hasWords = true
/** The last recording as a file, until its words are known. */
let recorded

followTime(highlight)
followSelection(playFrom)

function setLink(state, text) {
  byId('link').dataset.link = state
  setText(byId('link').firstElementChild, text)
}

function showFault(error) {
  if (error instanceof Unreachable) setLink('lost', 'Server not reachable')
  setText(byId('fault'), error?.message ?? '')
  setHidden(byId('fault'), error === undefined)
}

async function showStatus(signal) {
  const {active_model: model} = await send('/api/audio/status', {signal})
  setLink('answers', 'Connected')
  setText(byId('model'), model?.name ?? 'no model')
  setHidden(byId('starter'), model?.name !== 'starter')
}

/** Shows what is running. @param progress sent part, 0 to 1; undefined if it is unknown */
function showStage(text, progress) {
  setText(byId('stage'), text)
  const bar = byId('progress')
  if (progress === undefined) bar.removeAttribute('value')
  else bar.value = progress
}

let busy = false
/** Performs work, one at a time, with a button that stops it. @param work receives the signal of the button */
async function perform(work) {
  if (busy) return
  busy = true
  const stop = new AbortController()
  byId('stop').onclick = () => stop.abort()
  const hadFocus = document.activeElement
  setHidden(byId('ways'), true)
  setHidden(byId('work'), false)
  byId('stop').focus()
  showFault()
  try {
    await work(stop.signal)
  } catch (error) {
    if (error !== stop.signal.reason) showFault(error)
  } finally {
    busy = false
    setHidden(byId('work'), true)
    setHidden(byId('ways'), false)
    setHidden(byId('words'), recorded === undefined || !hasWords)
    if (document.activeElement === document.body) hadFocus?.focus()
  }
}

function begin(audioName) {
  name = audioName.replace(/\.[^.]*$/, '') || 'transcript'
  recorded = undefined
  clearTranscript()
  endPartial()
}

const transcribeFile = (file) =>
  perform(async (signal) => {
    begin(file.name)
    showWaveform(undefined)
    openAudio(/\.(txt|md)$/i.test(file.name) ? undefined : file)
    const decoded = decodeFile(file).then((samples) => {
      if (!signal.aborted) showWaveform(samples)
      return samples
    })
    const {text, duration_ms: durationMs = 0, segments} = await uploaded(file, decoded, signal)
    setLink('answers', 'Connected')
    addSegments(segments ?? [{start_ms: 0, end_ms: durationMs, text}])
    toast(text === '' ? 'No speech was found.' : 'The transcript is complete.')
  })

/** Errors of a file that is too large for the server, or in a format that it cannot decode. */
const convertible = new Set(['payload_too_large', 'unsupported_media_type', 'decoder_unavailable'])

/** Uploads a file; if the server cannot use it, uploads what the browser decoded. */
async function uploaded(file, decoded, signal) {
  try {
    return await upload(file, signal)
  } catch (error) {
    const samples = convertible.has(error.code) ? await decoded : undefined
    if (samples === undefined) throw error
    return upload(new File([waveFile(samples)], `${name}.wav`), signal)
  }
}

async function upload(file, signal) {
  const form = new FormData()
  form.append('word_timestamps', hasWords)
  form.append('include_segments', true)
  form.append('file', file)
  showStage(`Uploading ${file.name}`, 0)
  const onProgress = (part) =>
    part < 1 ? showStage(`Uploading ${file.name}`, part) : showStage(`Transcribing ${file.name}`)
  try {
    return await send('/api/audio/transcribe/upload', {body: form, signal, onProgress})
  } catch (error) {
    if (error.code !== 'words_unsupported' || !hasWords) throw error
    hasWords = false
    return upload(file, signal)
  }
}

/** Audio after which a microphone without any sound is reported, samples. */
const silenceLimit = 3 * rate

const record = () =>
  perform(async (signal) => {
    showStage('Opening the microphone')
    // The server rejects a token here; a WebSocket connection would only fail.
    await showStatus(signal)
    const recording = new Recording()
    let live
    const microphone = await openMicrophone(
      (samples) => {
        recording.push(samples)
        waveform.push(samples)
        live?.pump()
        showStage(recording.length > silenceLimit && waveform.isSilent ? 'No sound from the microphone' : 'Recording')
        setText(byId('clock'), clock(recording.length / rate))
      },
      () => byId('stop').click(),
    )
    if (signal.aborted) return microphone.stop()
    begin('recording')
    openAudio(undefined)
    showWaveform([], {isLive: true})
    showRecording(true)
    const awake = await navigator.wakeLock?.request('screen').catch(() => undefined)
    try {
      live = new LiveClient(recording, takeEvent)
      await Promise.race([live.finished, aborted(signal)])
    } finally {
      await microphone.stop()
      await awake?.release()
      showRecording(false)
      recorded = new File([waveFile(recording.all)], 'recording.wav')
      showWaveform(recording.all)
      openAudio(recorded)
    }
    showStage('Waiting for the last words')
    byId('stop').onclick = () => live.close()
    await live.finish().finally(() => endPartial())
  })

function showRecording(isOn) {
  document.body.classList.toggle('recording', isOn)
  setHidden(byId('progress'), isOn)
  setText(byId('stop'), isOn ? 'Stop' : 'Cancel')
  if (!isOn) setText(byId('clock'), '')
}

const aborted = (signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', resolve, {once: true})
  })

function takeEvent(event) {
  if (event.type === 'partial') showPartial(event)
  else if (event.type === 'final') {
    endPartial(event.text)
    addSegments([event])
  } else if (event.type === 'link')
    setLink(event.isConnected ? 'answers' : 'lost', event.isConnected ? 'Connected' : 'Connecting again')
  else if (event.type === 'error') showFault(new Error(`${event.message} ${event.hint}`))
}

byId('choose').onclick = () => byId('file').click()
byId('file').onchange = ({target}) => {
  const [file] = target.files
  target.value = ''
  if (file !== undefined) transcribeFile(file)
}
document.ondragover = (event) => {
  event.preventDefault()
  document.body.classList.add('dropping')
}
document.ondragleave = ({relatedTarget}) => {
  if (relatedTarget === null) document.body.classList.remove('dropping')
}
document.ondrop = (event) => {
  event.preventDefault()
  document.body.classList.remove('dropping')
  const [file] = event.dataTransfer.files
  if (file !== undefined) transcribeFile(file)
}

byId('record').onclick = record
byId('record').disabled = !isSecureContext
setHidden(byId('insecure'), isSecureContext)
if (!isSecureContext) byId('record').setAttribute('aria-describedby', 'insecure')

for (const button of byId('exports').querySelectorAll('[data-format]'))
  button.onclick = () => {
    const {extension, content} = exportTranscript(button.dataset.format, shownSegments())
    download(name + extension, content)
  }
byId('words').onclick = () => transcribeFile(recorded)
setHidden(byId('copy'), !isSecureContext)
byId('copy').onclick = async () => {
  await navigator.clipboard.writeText(exportTranscript('text', shownSegments()).content)
  toast('The text was copied.')
}

showStatus().catch((error) => {
  setLink('lost', 'Not connected')
  showFault(error)
})
