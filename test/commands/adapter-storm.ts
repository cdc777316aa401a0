import assert from 'node:assert/strict'
import {Receipt} from '../../src/llm/index.js'
import {randomSource} from '../../src/sampling/index.js'

export interface Storm {
  baseUrl: string
  adminKey: string
  /** Directories of different adapters below that of the server. */
  folders: readonly string[]
  requests: number
  seed: number
}

/** What a client sent and received, and the directory of the adapter that the receipt states. */
export interface StormReply {
  receipt: string
  request: {model: string}
  reply: {response: string}
  folder: string
}

const prompts = ['Once', 'The dog', 'What is', 'A red ball']
const names = Array.from({length: 8}, (_, i) => `name${i}`)
const clients = 6

/** What a name stood for, and when; the clock counts events. An operation counts from its start to its end. */
interface Meaning {
  /** Undefined: nothing. */
  folder: string | undefined
  since: number
  until: number
}

/**
 * Sends requests for names whose adapters are added, replaced and removed meanwhile. Each receipt must state an adapter
 * that the name stood for during the request, and each reply must be that of this adapter alone.
 */
export async function storm({baseUrl, adminKey, folders, requests, seed}: Storm): Promise<StormReply[]> {
  const random = randomSource(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const change = async (method: string, name: string, body?: object) => {
    const response = await fetch(`${baseUrl}/api/adapters${body === undefined ? `/${name}` : ''}`, {
      method,
      headers: {authorization: `Bearer ${adminKey}`},
      ...(body === undefined ? {} : {body: JSON.stringify(body)}),
    })
    assert.ok(response.ok, `${method} ${name}: ${await response.text()}`)
  }
  const ask = async (model: string, prompt: string) => {
    const request = {
      model,
      prompt,
      raw: true,
      stream: false,
      options: {seed: prompts.indexOf(prompt), temperature: 0.8, num_predict: 6},
    }
    const response = await fetch(`${baseUrl}/api/generate`, {method: 'POST', body: JSON.stringify(request)})
    const reply = (await response.json()) as {response: string; error?: string}
    return {status: response.status, receipt: response.headers.get('x-svc-receipt') ?? '', request, reply}
  }

  const expected = new Map<string, Map<string, string>>()
  const folderOf = new Map<string, string>()
  for (const folder of folders) {
    await change('POST', 'alone', {name: 'alone', path: folder})
    const texts = new Map<string, string>()
    for (const prompt of prompts) {
      const {receipt, reply} = await ask('alone', prompt)
      texts.set(prompt, reply.response)
      folderOf.set(Receipt.parse(receipt).parts.adapter, folder)
    }
    expected.set(folder, texts)
  }
  await change('DELETE', 'alone')
  assert.equal(folderOf.size, folders.length, 'each adapter has a digest of its own')

  let clock = 0
  const meanings = new Map(names.map((name) => [name, [{folder: undefined, since: 0, until: Infinity}] as Meaning[]]))
  const give = async (name: string, folder: string | undefined) => {
    const known = meanings.get(name) as Meaning[]
    const last = known.at(-1) as Meaning
    known.push({folder, since: clock++, until: Infinity})
    await (folder === undefined ? change('DELETE', name) : change('POST', name, {name, path: folder}))
    last.until = clock++
  }
  const isServed = (name: string) => meanings.get(name)?.at(-1)?.folder !== undefined
  for (const name of names) await give(name, pick(folders))

  const replies: StormReply[] = []
  let sent = 0
  const client = async () => {
    while (sent++ < requests) {
      const [name, prompt] = [pick(names), pick(prompts)]
      const started = clock++
      const {status, receipt, request, reply} = await ask(name, prompt)
      const ended = clock++
      const possible = (meanings.get(name) as Meaning[]).filter(({since, until}) => since <= ended && until >= started)
      const isPossible = (folder: string | undefined) => possible.some((meaning) => meaning.folder === folder)
      if (status === 404) {
        assert.ok(isPossible(undefined), `${name} was served all the time`)
        continue
      }
      assert.equal(status, 200, reply.error)
      const folder = folderOf.get(Receipt.parse(receipt).parts.adapter)
      assert.ok(folder !== undefined && isPossible(folder), `${name} was never the adapter of ${receipt}`)
      assert.equal(reply.response, expected.get(folder)?.get(prompt), `${folder}, ${prompt}`)
      replies.push({receipt, request, reply, folder})
    }
  }
  let isOver = false
  const administrator = async () => {
    while (!isOver) {
      const name = pick(names)
      await give(name, isServed(name) && random() < 0.15 ? undefined : pick(folders))
    }
  }
  const changes = administrator()
  await Promise.all(Array.from({length: clients}, client)).finally(() => {
    isOver = true
  })
  await changes
  for (const name of names) if (isServed(name)) await give(name, undefined)
  return replies
}
