import assert from 'node:assert/strict'
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {routes} from '../../../../src/mesh/protocol/routes.js'
import {type MeshServer, startMeshServer} from '../../../support/mesh-server.js'
import {temporaryFolder} from '../../../support/temporary.js'
import {until} from '../../../support/until.js'
import {signedToken} from '../../auth/signed-token.js'
import {type Answer, type Asked, ask} from './ask.js'
import {lifeOfSuite} from './control-plane.js'
import {attested, bodies, message, record} from './samples.js'

/** Recognisable secrets. */
const canaries = {
  SVC_MESH_TOKEN: 'canary-mesh-b7c1e09d5f',
  SVC_MESH_ADMIN_TOKEN: 'canary-admin-31f8aa0c42',
  SVC_MESH_WORKER_TOKEN: 'canary-worker-9e55d7710b',
  SVC_MESH_SUBMITTER_TOKEN: 'canary-submitter-60c2f4ab18',
  SVC_MESH_JWT_HMAC_SECRET: 'canary-hmac-d41d8cd98f00b204e9800998ecf8427e',
  SVC_MESH_BOOTSTRAP_TOKEN: 'canary-bootstrap-77ab01ce2f',
} as const
const newToken = 'canary-rotated-0f1e2d3c4b'
const exchange = routes.bootstrap_exchange.path

/** All requests. */
const operations = Object.values(routes).flatMap(({method, path}) =>
  (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((each) => ({method: each, path})),
)

const now = Math.floor(Date.now() / 1000)
/** With the maximum lifetime, for slow machines. */
const jwt = (claims: object) =>
  signedToken(
    {role: 'mesh', aud: 'svc-mesh', jti: `canary-jti-${Math.random()}`, iat: now, exp: now + 3600, ...claims},
    canaries.SVC_MESH_JWT_HMAC_SECRET,
  )
const jwts = [
  jwt({}),
  jwt({exp: now - 600, iat: now - 660}),
  jwt({scp: 'another'}),
  jwt({sub: 'another-node'}),
  jwt({role: 'nobody'}),
  signedToken({role: 'mesh'}, 'another key, which is as long as it has to be'),
]
const tokens = [undefined, ...Object.values(canaries), ...jwts]

/** Patterns that reveal a secret. */
const forms = (secret: string): Buffer[] =>
  [secret, Buffer.from(secret).toString('base64').replace(/=+$/, ''), Buffer.from(secret).toString('hex')].map((text) =>
    Buffer.from(text),
  )
// Only the signature of a JWT: its claims are not secret.
const wanted = [...Object.values(canaries), newToken, ...jwts.map((token) => token.split('.')[2] ?? '')]

const found = (where: Buffer) => wanted.filter((secret) => forms(secret).some((form) => where.includes(form)))

/** Selects the tokens sent with invalid bodies to an operation. */
export type TokenSelection = (path: string, at: number) => readonly (string | undefined)[]

/** Every token for every operation. */
export const all: TokenSelection = () => tokens

/** A permitted token and one other token, rotating through all of them. */
export const some: TokenSelection = (path, at) => [
  path === exchange ? canaries.SVC_MESH_BOOTSTRAP_TOKEN : canaries.SVC_MESH_TOKEN,
  tokens[at % tokens.length],
]

/** Declares tests that send secrets in many ways and check that they do not leak. */
export function testCanaries(select: TokenSelection): void {
  describe('secrets of a control plane', () => {
    const suite = lifeOfSuite()
    let server: MeshServer
    const answers: {answer: Answer; of: string}[] = []

    async function provoke(method: string, path: string, asked: Asked): Promise<void> {
      const answer = await ask(server, method, path, asked)
      // Only the bootstrap exchange may return a secret.
      if (path !== exchange || answer.status !== 200) answers.push({answer, of: `${method} ${path}`})
    }

    before(async () => {
      const folder = await temporaryFolder(suite)
      const file = join(folder, '.svc/mesh/mesh.env')
      await mkdir(join(folder, '.svc/mesh'), {recursive: true})
      const lines = Object.entries(canaries).map(([name, value]) => `${name}=${value}\n`)
      await writeFile(file, lines.join(''), {mode: 0o600})
      const env = {SVC_LOG: 'trace', SVC_LOG_FORMAT: 'json'}
      server = await startMeshServer(suite, {folder, env, isAlone: true})

      for (const {method, path} of operations)
        for (const token of tokens) {
          const body = method === 'POST' ? {body: bodies[path]?.('n-1') ?? {}} : {}
          await provoke(method, path, {token, ...body})
        }
      for (const [at, {path}] of operations.filter(({method}) => method === 'POST').entries())
        for (const token of select(path, at)) {
          const text = token ?? 'none'
          await provoke('POST', path, {token, body: `{"bootstrap_token": ${text}}`})
          await provoke('POST', path, {token, body: `{"bootstrap_token": "${text}"`})
          await provoke('POST', path, {token, body: {bootstrap_token: text, authorization: text, token: text}})
          await provoke('POST', path, {token, body: text, headers: {'content-type': 'text/plain'}})
          await provoke('POST', path, {token, query: `token=${text}`})
        }
      const worker = canaries.SVC_MESH_WORKER_TOKEN
      for (const incarnation of [4, 9, 4])
        await provoke('POST', '/v1/mesh/join', {token: worker, body: record('n-1', {incarnation, seq: 0})})
      for (const headers of [
        {authorization: `Basic ${worker}`},
        {authorization: worker},
        {authorization: `Bearer ${worker} ${worker}`},
        {host: 'evil.example', authorization: `Bearer ${worker}`},
        {cookie: `token=${worker}`, 'x-api-key': worker},
        {'x-request-id': 'a b'},
      ])
        for (const path of ['/v1/mesh/nodes', '/v1/mesh/nothing', '/v1/mesh/join', '/metrics'])
          await provoke('GET', path, {headers})
      const submitter = canaries.SVC_MESH_SUBMITTER_TOKEN
      for (const body of [
        message({idempotency_key: 'k'}),
        message({idempotency_key: 'k', payload: 'x'}),
        attested('{}'),
      ])
        await provoke('POST', '/v1/mesh/a2a/deliver', {token: submitter, body})
      for (let i = 0; i < 12; i++) await provoke('POST', exchange, {token: `${newToken}-${i}`, body: {}})

      // Reload with valid and invalid secrets.
      const reloads = () =>
        server.stderr().match(/":"(The secrets were reloaded|Keeping the current secrets)/g)?.length ?? 0
      for (const [before, text] of [
        `SVC_MESH_TOKEN=${newToken}\nSVC_MESH_ADMIN_TOKEN=${newToken}\n`,
        `SVC_MESH_TOKEN="${newToken}\n`,
        `${newToken}\nSVC_MESH_TOKEN=${newToken}\n`,
        `SVC_MESH_TOKEN=${newToken}\n`,
      ].entries()) {
        await writeFile(file, text, {mode: 0o600})
        server.signal('SIGHUP')
        await until(() => reloads() > before, 'the outcome of a reload in the log')
      }
      await server.hasTold('The secrets were reloaded.')
      await provoke('GET', '/v1/mesh/nodes', {token: newToken})
      assert.equal(await server.stop(), 0)
    })

    it('were sent in requests with all kinds of responses', () => {
      const statuses = new Set(answers.map(({answer}) => answer.status))
      for (const status of [200, 204, 400, 401, 403, 404, 409, 415, 422, 429])
        assert.ok(statuses.has(status), `${status}`)
      assert.match(server.stderr(), /"level":"(info|debug|trace)"/)
    })

    it('are in no response body or header', () => {
      for (const {answer, of} of answers) {
        const whole = Buffer.from(`${JSON.stringify(answer.headers)}\n${answer.text}`)
        assert.deepEqual(found(whole), [], `${of} ${answer.status}: ${answer.text}`)
      }
    })

    it('are not printed or logged', () => {
      assert.deepEqual(found(Buffer.from(server.stdout())), [])
      assert.deepEqual(found(Buffer.from(server.stderr())), [])
    })

    it('are in no file but their own', async () => {
      const files = (await readdir(server.folder, {recursive: true, withFileTypes: true})).filter((file) =>
        file.isFile(),
      )
      const names = files.map(({name}) => name)
      assert.ok(names.includes('mesh.db') && names.includes('mesh.env'), names.join(' '))
      for (const {parentPath, name} of files) {
        const isTheirs = name === 'mesh.env'
        assert.deepEqual(found(await readFile(join(parentPath, name))), isTheirs ? [newToken] : [], name)
      }
    })
  })
}
