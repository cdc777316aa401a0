import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it, type TestContext} from 'node:test'
import type {ConsoleMessage, Page, WebSocketRoute} from 'playwright-core'
import {freePort} from '../../src/net/index.js'
import {createFormat, type Segment} from '../../src/speech/index.js'
import {Sessions, type SpeechServerOptions} from '../../src/speech-server/index.js'
import {skipWithoutChromium, suitePage} from '../support/chromium.js'
import {selfSigned} from '../support/self-signed.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'
import {type Client, defaultStatus, hello, helloText, speechSuite} from './support.js'

const token = 'sesame+sesame-sesame'
const words = helloText.split(' ')
/** Length of the clip, which the microphone repeats. */
const clipMs = 2800
/** A name that is not on this machine for the browser, so that its pages are not secure without TLS. */
const remoteName = 'svc.test'

const suite = suitePage(
  "addEventListener('securitypolicyviolation', (e) => console.log('violates ' + e.violatedDirective))",
  [
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    // Repeats the clip: on a busy machine, the browser loses parts of it.
    `--use-file-for-fake-audio-capture=${hello}`,
    `--host-resolver-rules=MAP ${remoteName} 127.0.0.1`,
    '--autoplay-policy=no-user-gesture-required',
  ],
)
const {service, start} = speechSuite()

interface Shown {
  client: Client
  page: Page
  /** Errors and messages of the page. */
  faults: string[]
  /** Address that a name of this machine has in the browser. */
  url(host?: string, fragment?: string): string
}

/** Opens the page of a server in a browser. */
async function show(
  t: TestContext,
  options: Partial<SpeechServerOptions> = {},
  {host = '127.0.0.1', fragment = ''} = {},
): Promise<Shown> {
  const client = await start(options)
  const {server} = client
  const page = await suite()
  const faults: string[] = []
  const onError = ({message}: Error) => void faults.push(message)
  const onConsole = (message: ConsoleMessage) => void faults.push(message.text())
  page.on('pageerror', onError).on('console', onConsole)
  t.after(async () => {
    page.off('pageerror', onError).off('console', onConsole)
    await page.goto('about:blank')
  })
  const url = (host = '127.0.0.1', fragment = '') =>
    `${new URL(server.baseUrl).protocol}//${host}:${server.port}/${fragment}`
  await page.goto(url(host, fragment))
  return {client, page, faults, url}
}

/** Waits until an element shows a text. */
const shows = (page: Page, selector: string, text: string | RegExp) =>
  page.locator(selector).filter({hasText: text}).first().waitFor({state: 'visible', timeout: 60_000})

const press = (page: Page, name: string) => page.getByRole('button', {name, exact: true}).click()

/** Uploads a recording, and waits for its transcript. */
async function transcribe(page: Page): Promise<void> {
  await page.locator('#file').setInputFiles(hello)
  await shows(page, '#exports', 'SRT')
}

/** Ends a recording, and waits for its last result. */
async function stopRecording(page: Page): Promise<void> {
  await press(page, 'Stop')
  await page.getByRole('button', {name: 'Record', exact: true}).waitFor({timeout: 60_000})
}

/** The file that a button saves. */
async function saved(page: Page, name: string): Promise<{name: string; text: string}> {
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, name)])
  return {name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8')}
}

describe('the speech page in a browser', {skip: skipWithoutChromium}, () => {
  it('transcribes a file, and plays it from the selected word', async (t) => {
    const {page, faults} = await show(t)
    await shows(page, '#link', 'Connected')
    await transcribe(page)
    assert.deepEqual(await page.locator('.said button').allTextContents(), words)
    await page.locator('#waveform').waitFor({state: 'visible'})
    const {segments} = JSON.parse((await saved(page, 'JSON')).text)
    const seeking = page.evaluate<number>(
      "new Promise((resolve) => { const audio = document.getElementById('audio'); audio.onseeked = () => resolve(audio.currentTime) })",
    )
    await press(page, 'welcome')
    const sought = await seeking
    const {start_ms: startMs} = segments[0].words[2]
    assert.ok(Math.abs(sought - startMs / 1000) < 0.3, `plays from ${sought} s instead of ${startMs} ms`)
    await page.locator('[aria-current]').filter({hasText: 'machine'}).waitFor()
    assert.deepEqual(faults, [])
  })

  it('transcribes the microphone live, and keeps the recording', async (t) => {
    const {page, faults} = await show(t)
    const finals: {text: string; end_ms: number}[] = []
    page.once('websocket', (socket) =>
      socket.on('framereceived', ({payload}) => {
        const event = JSON.parse(String(payload))
        if (event.type === 'final') finals.push(event)
      }),
    )
    await press(page, 'Record')
    await shows(page, '#partial', /\S/)
    await shows(page, '#segments li', 'hello')
    await stopRecording(page)
    assert.equal(await page.locator('#partial').isVisible(), false)
    assert.equal(await page.locator('#fault').isVisible(), false)
    const texts = finals.map(({text}) => text).filter((text) => text !== '')
    assert.deepEqual(await page.locator('.said button').allTextContents(), texts)
    assert.equal((await saved(page, 'TXT')).text, texts.map((text) => `${text}\n`).join(''))
    const seconds = await page.evaluate<number>(
      "new Promise((resolve) => { const audio = document.getElementById('audio'); if (audio.duration > 0) resolve(audio.duration); audio.onloadedmetadata = () => resolve(audio.duration) })",
    )
    const end = (finals.at(-1)?.end_ms ?? 0) / 1000
    assert.ok(Math.abs(seconds - end) < 0.01, `${seconds} s are kept, and ${end} s were transcribed`)

    await page.locator('.said button').first().click()
    await page.locator('[aria-current]').waitFor()
    await press(page, 'Add word times')
    await shows(page, '.said button', /^\w+$/)
    assert.deepEqual(faults, [])
  })

  it('shows stable text apart from text that may change, and stops after the last result', async (t) => {
    const {page, faults} = await show(t)
    const received: (string | Buffer)[] = []
    const isStream = (url: URL) => url.pathname.endsWith('/stream')
    const socket = new Promise<WebSocketRoute>((resolve) =>
      page.routeWebSocket(isStream, (route) => {
        route.onMessage((message) => void received.push(message))
        resolve(route)
      }),
    )
    await press(page, 'Record')
    const server = await socket
    const closed = new Promise((resolve) => server.onClose((code) => resolve(code)))
    const send = (event: object) => server.send(JSON.stringify(event))
    send({type: 'ready', session_id: 'a session'})
    await until(() => received.length > 0, 'audio')
    send({type: 'partial', text: 'one two three', stable_text: 'one'})
    await shows(page, '#tail', /^ two three$/)
    assert.equal(await page.locator('#stable').textContent(), 'one')
    send({type: 'partial', text: 'one two tree four', stable_text: 'one two'})
    await shows(page, '#tail', /^ tree four$/)
    // A screen reader reads what is added to the stable text.
    assert.deepEqual(await page.locator('#stable span').allTextContents(), ['one', ' two'])
    send({type: 'final', utterance: 0, text: 'one two three', start_ms: 0, end_ms: 50})
    await shows(page, '#segments', 'one two three')
    assert.equal(await page.locator('#announcement').textContent(), ' three')
    await press(page, 'Stop')
    await until(() => received.includes('{"op":"commit"}'), 'the commit')
    const bytes = received.reduce((sum, message) => sum + (typeof message === 'string' ? 0 : message.length), 0)
    send({type: 'final', utterance: 1, text: 'four', start_ms: 50, end_ms: Math.round(bytes / 32)})
    assert.equal(await closed, 1000)
    await page.getByRole('button', {name: 'Record', exact: true}).waitFor()
    assert.deepEqual(await page.locator('.said button').allTextContents(), ['one two three', 'four'])
    assert.deepEqual(faults, [])
    // A route of a page cannot be removed, so it lets the connections of the next tests pass.
    await page.routeWebSocket(isStream, (route) => void route.connectToServer())
  })

  it('moves between words with the arrow keys, and plays with Enter', async (t) => {
    const {page} = await show(t)
    await transcribe(page)
    const focused = () => page.evaluate('document.activeElement.textContent')
    await page.getByRole('button', {name: 'hello', exact: true}).focus()
    await page.keyboard.press('ArrowRight')
    assert.equal(await focused(), 'and')
    await page.keyboard.press('End')
    assert.equal(await focused(), 'machine')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowUp')
    assert.equal(await focused(), 'machine')
    await page.keyboard.press('ArrowLeft')
    assert.equal(await focused(), 'own')
    await page.keyboard.press('Enter')
    await page.locator('[aria-current]').filter({hasText: 'own'}).waitFor()
    // Tab reaches the transcript once, at the word that had the focus last.
    assert.equal(await page.locator('.said button[tabindex="0"]').textContent(), 'own')
  })

  it('saves the transcript as text, subtitles and JSON', async (t) => {
    const {page} = await show(t)
    await transcribe(page)
    assert.deepEqual(await saved(page, 'TXT'), {name: 'hello.txt', text: `${helloText}\n`})
    const {name, text} = await saved(page, 'SRT')
    assert.equal(name, 'hello.srt')
    assert.match(text, /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nhello and welcome to your own machine\n\n$/)
    assert.match((await saved(page, 'VTT')).text, /^WEBVTT\n\n00:00:0\d\.\d{3} --> /)
    const json = JSON.parse((await saved(page, 'JSON')).text)
    assert.equal(json.text, helloText)
    assert.deepEqual(
      json.segments.flatMap((segment: {words: {word: string}[]}) => segment.words.map(({word}) => word)),
      words,
    )
  })

  it('saves the same subtitles as svc transcribe', async (t) => {
    const {page} = await show(t)
    const texts = ['<b>1 --> 2</b> & more', `a line\n\n${'that is longer than one line of subtitles '.repeat(4)}`]
    const segments = texts.map((text, i) => ({text, start_ms: 3_600_000 + 5000 * i, end_ms: 3_604_500 + 5000 * i}))
    await page.route('**/upload', (route) => route.fulfill({json: {text: '', segments}}))
    t.after(() => page.unroute('**/upload'))
    await transcribe(page)
    for (const format of ['text', 'srt', 'vtt'] as const) {
      const {header, segment} = createFormat(format)
      const lines = segments.map(({text, start_ms: start, end_ms: end}) =>
        segment({text, startSec: start / 1000, endSec: end / 1000} as Segment),
      )
      const {text} = await saved(page, format === 'text' ? 'TXT' : format.toUpperCase())
      assert.equal(text, header() + lines.join(''))
    }
  })

  it('shows segments if the model has no word times', async (t) => {
    const {page} = await show(t)
    const isRefused = (body: string | null) => body?.includes('name="word_timestamps"\r\n\r\ntrue') ?? false
    await page.route('**/upload', async (route) => {
      if (!isRefused(route.request().postData())) return route.continue()
      await route.fulfill({status: 400, json: {error: 'words_unsupported', message: 'no words', hint: ''}})
    })
    t.after(() => page.unroute('**/upload'))
    await transcribe(page)
    assert.deepEqual(await page.locator('.said button').allTextContents(), [helloText])
    await page.getByRole('button', {name: helloText}).click()
    await page.locator('[aria-current]').waitFor()
  })

  it('sends a file that the server refuses as WAV, if the browser can decode it', async (t) => {
    const {page} = await show(t, {maxUploadBytes: 200_000})
    // The server answers before it has read the body, and closes the connection.
    const padded = Buffer.concat([await readFile(hello), Buffer.alloc(16 << 20)])
    await page.locator('#file').setInputFiles({name: 'long.wav', mimeType: 'audio/wav', buffer: padded})
    await shows(page, '#segments', helloText)
  })

  it('reports a file that is not audio, and cancels an upload', async (t) => {
    const {page} = await show(t)
    await page.locator('#file').setInputFiles({name: 'x.wav', mimeType: 'audio/wav', buffer: Buffer.from('{"a": 1}')})
    await shows(page, '#fault', /./)
    assert.equal(await page.locator('#waveform').isVisible(), false)
    const held = new Promise<void>((resolve) => page.route('**/upload', async () => resolve()))
    t.after(() => page.unroute('**/upload'))
    await page.locator('#file').setInputFiles(hello)
    await held
    await press(page, 'Cancel')
    await page.getByRole('button', {name: 'Choose a file'}).waitFor()
    assert.equal(await page.locator('#fault').isVisible(), false)
  })

  it('accepts a dropped file', async (t) => {
    const {page} = await show(t)
    await page.evaluate(
      `const data = new DataTransfer()
      data.items.add(new File(['hello from a text file'], 'note.txt'))
      document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))`,
    )
    await shows(page, '#segments', 'hello from a text file')
    assert.equal(await page.locator('#player').isVisible(), false)
  })

  it('does not interpret a transcript as HTML', async (t) => {
    const {page, faults} = await show(t)
    const hostile = '<img src=x onerror="document.title=1">'
    await page
      .locator('#file')
      .setInputFiles({name: `${hostile}.txt`, mimeType: 'text/plain', buffer: Buffer.from(hostile)})
    await shows(page, '#segments', 'onerror')
    assert.equal(await page.locator('img').count(), 0)
    assert.deepEqual(faults, [])
  })

  it('names the starter model and how to get a better one', async (t) => {
    const {page} = await show(t)
    await shows(page, '#starter', 'svc speech pull tiny.en')
    await shows(page, '#model', 'starter')
    const status = async () => ({...(await defaultStatus()), active_model: {name: 'tiny.en', dir: '/models/tiny.en'}})
    const {page: other} = await show(t, {status})
    await shows(other, '#model', 'tiny.en')
    assert.equal(await other.locator('#starter').isVisible(), false)
  })

  it('takes the token from the fragment, and removes it from the address', async (t) => {
    const {page, faults, url} = await show(t, {token}, {fragment: `#token=${encodeURIComponent(token)}`})
    await shows(page, '#link', 'Connected')
    assert.equal(page.url(), url())
    assert.ok(!(await page.content()).includes(token))
    await transcribe(page)
    await press(page, 'Record')
    await shows(page, '#segments li', 'hello')
    await stopRecording(page)
    await page.reload()
    await shows(page, '#link', 'Connected')
    assert.deepEqual(faults, [])
  })

  it('asks for the token', async (t) => {
    const {page, url} = await show(t, {token})
    await page.getByRole('dialog', {name: 'Token required'}).waitFor()
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await shows(page, '#ask-fault', 'The server rejected the token.')
    await page.keyboard.type(token)
    await page.keyboard.press('Enter')
    await shows(page, '#link', 'Connected')
    assert.equal(page.url(), url())

    await page.evaluate('sessionStorage.clear()')
    await page.reload()
    await page.getByRole('dialog', {name: 'Token required'}).waitFor()
    await page.keyboard.press('Escape')
    await shows(page, '#fault', 'The server requires a token.')
  })

  it('explains why the microphone is not available on a page that is not secure', async (t) => {
    const fragment = `#token=${encodeURIComponent(token)}`
    const address = {host: '0.0.0.0', port: 0}
    const {page} = await show(t, {token, address}, {host: remoteName, fragment})
    await shows(page, '#insecure', '--tls-cert')
    assert.equal(await page.getByRole('button', {name: 'Record'}).isDisabled(), true)
    await transcribe(page)
    assert.deepEqual(await page.locator('.said button').allTextContents(), words)
  })

  it('uses the microphone of another machine over TLS', async (t) => {
    const options = {token, address: {host: '0.0.0.0', port: 0}, tls: {...selfSigned(), minVersion: '1.3' as const}}
    const fragment = `#token=${encodeURIComponent(token)}`
    const {page, faults} = await show(t, options, {host: remoteName, fragment})
    assert.equal(await page.locator('#insecure').isVisible(), false)
    await press(page, 'Record')
    await shows(page, '#segments li', 'hello')
    await stopRecording(page)
    assert.deepEqual(faults, [])
  })

  it('reports why a live connection is refused', async (t) => {
    const {page, client} = await show(t)
    const live = Array.from({length: 32}, () => client.live())
    await Promise.all(live.map((each) => each.next('ready')))
    await press(page, 'Record')
    await shows(page, '#fault', '32 live sessions')
    for (const each of live) each.op({op: 'cancel'})
    await Promise.all(live.map((each) => each.closed))
  })

  for (const [what, keeps] of [
    ['that continues its session', true],
    ['that keeps no sessions', false],
  ] as const)
    it(`continues a recording after the restart of a server ${what}`, async (t) => {
      const folder = await temporaryFolder(t)
      const sessions = () => Sessions.start(service, keeps ? {folder, ttlMs: 60_000} : undefined)
      const address = {host: '127.0.0.1', port: await freePort()}
      const {page, client} = await show(t, {address, sessions: await sessions()})
      await press(page, 'Record')
      await shows(page, '#partial', /\S/)
      await client.server.close(0)
      await shows(page, '#link', 'Connecting again')
      await start({address, sessions: await sessions()})
      await shows(page, '#link', 'Connected')
      await shows(page, '#segments li', 'hello')
      // Ends when the result of the last sample is there.
      await stopRecording(page)
      const {segments} = JSON.parse((await saved(page, 'JSON')).text) as {segments: Record<string, number>[]}
      let endMs = 0
      for (const {start_ms: start = 0, end_ms: end = 0} of segments) {
        assert.ok(start >= endMs, `${start} ms is transcribed twice`)
        assert.ok(start - endMs < clipMs, `${endMs} to ${start} ms is missing`)
        endMs = end
      }
    })

  it('fits a phone, in dark mode', async (t) => {
    const phone = await suite()
    const size = phone.viewportSize()
    t.after(async () => {
      await phone.emulateMedia({colorScheme: null, reducedMotion: null})
      if (size !== null) await phone.setViewportSize(size)
    })
    await phone.setViewportSize({width: 360, height: 740})
    await phone.emulateMedia({colorScheme: 'dark', reducedMotion: 'reduce'})
    const {page} = await show(t)
    await transcribe(page)
    await page.locator('#waveform').waitFor({state: 'visible'})
    const wide = await page.evaluate(
      "[...document.querySelectorAll('body *')].filter((each) => !each.closest('.unseen') && each.getBoundingClientRect().right > 360.5).map((each) => each.outerHTML.slice(0, 80))",
    )
    assert.deepEqual(wide, [])
    const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    assert.match(ground, /^rgb\((\d|1\d|2\d), /)
    for (const name of ['Choose a file', 'Record']) {
      const box = await page.getByRole('button', {name}).boundingBox()
      assert.ok((box?.height ?? 0) >= 44, name)
    }
  })
})
