import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readdirSync, readFileSync} from 'node:fs'
import {cp, readFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {basename, join} from 'node:path'
import {buffer} from 'node:stream/consumers'
import {describe, it, type TestContext} from 'node:test'
import {Ajv2020} from 'ajv/dist/2020.js'
import {execa} from 'execa'
import {parse, parseAllDocuments} from 'yaml'
import {settingTables} from '../../src/config/index.js'
import {askMesh} from '../support/mesh-server.js'
import {createDatabase, skipWithoutPostgres} from '../support/postgres.js'
import {skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {svc} from '../support/svc.js'
import {type Going, startAlone} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'

const folder = projectFile('examples/mesh/fleet')
const paths = [folder, projectFile('examples/systemd')].flatMap((each) =>
  readdirSync(each).map((file) => join(each, file)),
)
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')

interface Service {
  command?: string[]
  environment?: Record<string, string>
}
const services: Readonly<Record<string, Service>> = parse(textOf('compose.yaml'), {merge: true}).services

/** Replaces `${NAME:?}` and `${NAME:-default}` like Docker Compose. */
const interpolate = (text: string, values: Readonly<Record<string, string | undefined>>): string =>
  text.replace(/\$\{(\w+)(?::(\?)|:-([^}]*))\}/g, (_, name: string, isRequired, byDefault = '') => {
    assert.ok(!isRequired || values[name], `${name} is required`)
    return values[name] || byDefault
  })

/** Lines `NAME=value` of a file. */
const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))

const [, probe = ''] = /^ *option httpchk GET (\S+)$/m.exec(textOf('haproxy.cfg')) ?? []
const balanced = [...textOf('haproxy.cfg').matchAll(/^ *server (\S+) (\S+)$/gm)]

/** Passes each request to the first server that is ready, in turn. Does the same as the balancer of the files. */
async function startBalancer(t: TestContext, urls: readonly string[]): Promise<string> {
  let turn = 0
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const first = turn++
    for (let i = 0; i < urls.length; i++) {
      const url = urls[(first + i) % urls.length] as string
      const isReady = await fetch(url + probe).then(
        ({status}) => status === 200,
        () => false,
      )
      if (!isReady) continue
      const {authorization = '', 'content-type': type} = request.headers
      const answer = await fetch(url + request.url, {
        method: request.method ?? '',
        headers: {authorization, ...(type === undefined ? {} : {'content-type': type})},
        ...(body.length === 0 ? {} : {body}),
      })
      response.writeHead(answer.status, {'content-type': answer.headers.get('content-type') ?? 'text/plain'})
      response.end(Buffer.from(await answer.arrayBuffer()))
      return
    }
    response.writeHead(503).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs the command of a service as a process and waits for its first line of JSON. */
async function start(t: TestContext, command: readonly string[], env: Record<string, string>) {
  const [program, ...args] = command
  assert.equal(program, 'svc')
  const cwd = await temporaryFolder(t)
  const going: Going = startAlone([...args, '--json'], {cwd, env: {HOME: cwd, ...env}})
  t.after(() => going.close())
  while (going.lines.length === 0) await going.told()
  return {going, ready: JSON.parse(going.lines[0] as string)}
}

describe('the fleet of compose.yaml', {skip: skipWithoutPostgres}, () => {
  it('has two control planes, and loses no node if one of them is killed', async (t) => {
    const cwd = await temporaryFolder(t)
    assert.equal((await svc(['mesh', 'init'], {cwd, env: {HOME: cwd}})).exitCode, 0)
    const secrets = variablesOf(await readFile(join(cwd, '.svc/mesh/mesh.env'), 'utf8'))
    const values = {...secrets, PGPASSWORD: 'secret'}
    const environmentOf = ({environment = {}}: Service) =>
      Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value, values)]))
    const named = (program: string) =>
      Object.entries(services).filter(([, {command}]) => command?.slice(0, 3).join(' ') === `svc mesh ${program}`)

    const {POSTGRES_USER, POSTGRES_DB} = environmentOf(services.postgres as Service)
    const store = `postgres://${POSTGRES_USER}@postgres:5432/${POSTGRES_DB}`
    const url = await createDatabase()
    const planes = named('serve')
    assert.deepEqual(
      balanced.map(([, name, address]) => [name, address]),
      planes.map(([name]) => [name, `${name}:9847`]),
    )
    const replicas = []
    for (const [, service] of planes) {
      const env = environmentOf(service)
      assert.equal(env.SVC_MESH_STORE_URL, store)
      const command = (service.command ?? []).map((word) => (word === '9847' ? '0' : word))
      replicas.push(await start(t, command, {...env, SVC_MESH_STORE_URL: url}))
    }
    const at = replicas.map(({ready}) => ({baseUrl: `http://127.0.0.1:${new URL(ready.base_url).port}`}))
    const [first, second] = at as [{baseUrl: string}, {baseUrl: string}]
    const balancer = await startBalancer(
      t,
      at.map(({baseUrl}) => baseUrl),
    )

    const nodes = named('join')
    assert.equal(nodes.length, 3)
    for (const [, service] of nodes) {
      const env = environmentOf(service)
      assert.equal(env.SVC_MESH_CONTROL_ADDR, 'http://balancer:9847')
      const {ready} = await start(t, service.command ?? [], {...env, SVC_MESH_CONTROL_ADDR: balancer})
      assert.deepEqual([ready.event, ready.node_id], ['joined', env.SVC_MESH_NODE_ID])
    }
    const token = secrets.SVC_MESH_TOKEN as string
    const seen = async (): Promise<Record<string, number>> => {
      const {body} = await askMesh({baseUrl: balancer}, '/v1/mesh/nodes', {token})
      return Object.fromEntries(
        body.nodes.map((node: {id: string; last_seen_unix_ms: number}) => [node.id, node.last_seen_unix_ms]),
      )
    }
    for (const plane of at)
      assert.equal((await askMesh(plane, '/v1/mesh/queue/stats', {token})).body.replicas.length, 2)

    const message = {sender_agent_id: '1', receiver_agent_id: '2', message_type: 'free_form', payload: 'hello'}
    const {body: delivered} = await askMesh(first, '/v1/mesh/a2a/deliver', {token, body: message})
    const claim = {receiver_agent_id: '2', claimer_node_id: 'node-1'}
    const {body: claimed} = await askMesh(second, '/v1/mesh/a2a/inbox', {token, body: claim})
    assert.deepEqual([claimed.messages[0].id, claimed.messages[0].payload], [delivered.message_id, 'hello'])

    const before = await seen()
    assert.deepEqual(Object.keys(before), ['node-1', 'node-2', 'node-3'])
    replicas[0]?.going.signal('SIGKILL')
    await replicas[0]?.going.ended
    let after = before
    await until(async () => {
      after = await seen()
      return Object.entries(before).every(([id, ms]) => (after[id] ?? 0) > ms)
    }, 'all nodes have sent a heartbeat to the other control plane')
    assert.deepEqual(Object.keys(after), Object.keys(before))
    assert.equal((await askMesh(second, '/v1/mesh/queue/stats', {token})).body.replicas.length, 1)
  })
})

/** Commands, with their flags, in a text of shell commands or YAML. */
function commandsIn(text: string): string[][] {
  const lists = [...text.matchAll(/\[(svc, [^\]]*)\]/g)].map(([, list = '']) => list.split(/[, ']+/))
  const lines = [...text.matchAll(/(?<=^|[ `'])svc (?:mesh|serve|speech|daemon|db) .*?(?=[`|;>"\n]|[.,:]\s|$)/gm)].map(
    ([line]) => line.trim().split(/\s+/),
  )
  return [...lists, ...lines]
}

describe('the files for servers', () => {
  const manifest: {commands: Record<string, {flags: Record<string, {char?: string}>}>} = JSON.parse(
    readFileSync(projectFile('oclif.manifest.json'), 'utf8'),
  )
  const known = new Set(settingTables.flatMap((table) => Object.values(table.rows).flatMap(({env = []}) => env)))

  for (const path of paths)
    it(`${basename(path)}: has commands, flags and variables that exist`, () => {
      const text = readFileSync(path, 'utf8')
      for (const [, ...words] of commandsIn(text)) {
        const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
        const names = words.slice(0, end === -1 ? undefined : end)
        const id = names
          .map((_, i) => names.slice(0, names.length - i).join(':'))
          .find((each) => each in manifest.commands)
        assert.ok(id !== undefined, `svc ${words.join(' ')}`)
        const flags = manifest.commands[id]?.flags ?? {}
        const all = new Set(Object.entries(flags).flatMap(([name, {char}]) => [`--${name}`, `-${char}`]))
        for (const word of words.filter((each) => /^--?[a-z]/.test(each))) assert.ok(all.has(word), `${id} ${word}`)
      }
      for (const [name] of text.matchAll(/\bSVC_\w+/g)) assert.ok(known.has(name), name)
    })

  it('contain no secret', () => {
    for (const path of paths)
      assert.doesNotMatch(readFileSync(path, 'utf8'), /(TOKEN|PASSWORD|SECRET|KEY)\w*['"]?[=:] *['"]?[\w-]{8}/, path)
  })

  it('are valid units', {skip: skipWithoutProgram('systemd-analyze')}, async (t) => {
    const copy = await temporaryFolder(t)
    const units = paths.filter((path) => /\.(service|timer)$/.test(path))
    for (const unit of units) await cp(unit, join(copy, basename(unit)))
    // A template is checked with an instance.
    const names = units.map((unit) => basename(unit).replace('@', '@srv-project'))
    const {all, exitCode} = await execa('systemd-analyze', ['verify', '--man=no', ...names], {
      cwd: copy,
      all: true,
      reject: false,
    })
    assert.deepEqual([exitCode, all.split('\n').filter((line) => /svc-/.test(line))], [0, []])
  })

  it('are valid objects of Kubernetes, which refer to each other', () => {
    const objects = parseAllDocuments(textOf('kubernetes.yaml')).map((document) => document.toJS())
    const validate = new Ajv2020({strict: true, allowUnionTypes: true}).compile(kubernetes)
    for (const object of objects) assert.ok(validate(object), JSON.stringify(validate.errors))
    const [deployment, service, budget] = objects
    const {template, replicas, selector} = deployment.spec
    assert.equal(replicas, 2)
    for (const {matchLabels} of [selector, budget.spec.selector])
      assert.deepEqual(matchLabels, template.metadata.labels)
    assert.deepEqual(service.spec.selector, template.metadata.labels)
    const [container] = template.spec.containers
    const [{name, containerPort}] = container.ports
    for (const port of [
      service.spec.ports[0].targetPort,
      container.readinessProbe.httpGet.port,
      container.livenessProbe.httpGet.port,
    ])
      assert.equal(port, name)
    assert.equal(container.command[container.command.indexOf('--port') + 1], String(containerPort))
    assert.equal(container.readinessProbe.httpGet.path, probe)
  })
})

const text = {type: 'string', minLength: 1}
const count = {type: 'integer', minimum: 0}
const object = (properties: Record<string, object>, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const list = (items: object) => ({type: 'array', items, minItems: 1})
const labels = {type: 'object', additionalProperties: text, minProperties: 1}
const selector = object({matchLabels: labels}, ['matchLabels'])
const metadata = object({name: {type: 'string', pattern: '^[a-z0-9-]{1,63}$'}, labels})
const port = {anyOf: [text, {type: 'integer', minimum: 1, maximum: 65_535}]}
const probeOf = object(
  {
    httpGet: object({path: {type: 'string', pattern: '^/'}, port, scheme: {enum: ['HTTP', 'HTTPS']}}, ['port']),
    periodSeconds: {type: 'integer', minimum: 1},
    failureThreshold: {type: 'integer', minimum: 1},
  },
  ['httpGet'],
)
const amounts = object({
  cpu: {type: 'string', pattern: '^\\d+m?$'},
  memory: {type: 'string', pattern: '^\\d+(Ki|Mi|Gi)$'},
})
const named = (more: Record<string, object>, required: string[]) => object({name: text, ...more}, ['name', ...required])
const container = named(
  {
    image: text,
    command: list(text),
    env: list(named({value: text}, ['value'])),
    envFrom: list(object({secretRef: named({}, [])}, ['secretRef'])),
    ports: list(named({containerPort: port}, ['containerPort'])),
    readinessProbe: probeOf,
    livenessProbe: probeOf,
    lifecycle: object({preStop: object({exec: object({command: list(text)}, ['command'])}, ['exec'])}),
    resources: object({requests: amounts, limits: amounts}),
    securityContext: object({
      allowPrivilegeEscalation: {type: 'boolean'},
      readOnlyRootFilesystem: {type: 'boolean'},
      capabilities: object({drop: list(text)}),
    }),
    volumeMounts: list(named({mountPath: {type: 'string', pattern: '^/'}}, ['mountPath'])),
  },
  ['image', 'command', 'readinessProbe', 'livenessProbe'],
)
const pod = object(
  {
    automountServiceAccountToken: {type: 'boolean'},
    terminationGracePeriodSeconds: count,
    topologySpreadConstraints: list(
      object(
        {
          maxSkew: {type: 'integer', minimum: 1},
          topologyKey: text,
          whenUnsatisfiable: {enum: ['DoNotSchedule', 'ScheduleAnyway']},
          labelSelector: selector,
        },
        ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
      ),
    ),
    securityContext: object({
      runAsNonRoot: {type: 'boolean'},
      runAsUser: count,
      seccompProfile: object({type: {enum: ['RuntimeDefault', 'Unconfined', 'Localhost']}}, ['type']),
    }),
    containers: list(container),
    volumes: list(named({emptyDir: object({})}, ['emptyDir'])),
  },
  ['containers'],
)
const kind = (apiVersion: string, name: string, spec: object) =>
  object({apiVersion: {const: apiVersion}, kind: {const: name}, metadata, spec}, [
    'apiVersion',
    'kind',
    'metadata',
    'spec',
  ])

/** The fields of the objects of Kubernetes 1.29 that the manifest uses. */
const kubernetes = {
  oneOf: [
    kind(
      'apps/v1',
      'Deployment',
      object(
        {
          replicas: count,
          selector,
          strategy: object({
            type: {enum: ['RollingUpdate', 'Recreate']},
            rollingUpdate: object({maxUnavailable: count, maxSurge: count}),
          }),
          template: object({metadata: object({labels}, ['labels']), spec: pod}, ['metadata', 'spec']),
        },
        ['selector', 'template'],
      ),
    ),
    kind(
      'v1',
      'Service',
      object({selector: labels, ports: list(named({port, targetPort: port}, ['port']))}, ['ports']),
    ),
    kind('policy/v1', 'PodDisruptionBudget', object({minAvailable: count, selector}, ['selector'])),
  ],
}
