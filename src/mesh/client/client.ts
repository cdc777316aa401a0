import {createHash} from 'node:crypto'
import {SvcError} from '../../errors/index.js'
import type {AuditPage} from '../protocol/audit.js'
import type {ExecLease, LeaseVerification, Promotion} from '../protocol/lease.js'
import type {DeadMessages, DeadOutcome, Delivered, QueueReport, StoredMessage} from '../protocol/message.js'
import type {HeartbeatReply, NodeRecord, Registry} from '../protocol/node.js'
import type {MeshOperation} from '../protocol/routes.js'
import {type Call, type Caller, call, type Reply} from './call.js'
import {MeshHttpError} from './error.js'
import {NodePages} from './node-pages.js'
import {answeredAt, readNodes, readObject} from './read-reply.js'
import {type Redactor, redactor} from './redactor.js'
import type {
  AckRequest,
  BootstrapGrant,
  CallOptions,
  DeliverRequest,
  GrantedLease,
  GrantRequest,
  HeartbeatRecord,
  HeldRequest,
  InboxRequest,
  JoinRecord,
  MaintenanceRequest,
  NodesRequest,
  PageRequest,
  RenewClaimRequest,
} from './requests.js'
import {type MeshTokens, secretsOf} from './tokens.js'
import {createTransport} from './transport.js'

export interface MeshClientOptions {
  /** Such as `http://127.0.0.1:9847`. */
  baseUrl: string
  tokens: MeshTokens
  /** Called when a token is refused. Returns the current tokens; undefined if there are none for this control plane. */
  freshTokens?: (() => MeshTokens | undefined) | undefined
  /** Timeout of one request, ms; default 10 s. */
  timeoutMs?: number | undefined
  /** Retry transient errors of repeatable requests; default true. */
  retry?: boolean | undefined
  /** Total time for retries while nothing accepts connections, ms; default: as for other transient errors. */
  connectRetryMs?: number | undefined
  /** Maximum size of a response, bytes; default 16 MiB. */
  maxAnswerBytes?: number | undefined
  /** Returns a number in [0, 1); default `Math.random`. */
  random?: (() => number) | undefined
}

/**
 * Client of one control plane. All methods throw `MeshHttpError`, or the reason of their signal. Methods that return a
 * boolean return false if their subject does not exist.
 */
export interface MeshClient {
  readonly baseUrl: string
  readonly timeoutMs: number
  /** Removes the tokens of this client from a text. */
  readonly redact: Redactor
  health(options?: CallOptions): Promise<void>
  /** Metrics in the Prometheus text format. */
  metrics(options?: CallOptions): Promise<string>
  /** If the response contains no server time, that of its Date header is used. */
  listNodes(request?: NodesRequest, options?: CallOptions): Promise<Registry>
  join(record: JoinRecord, options?: CallOptions): Promise<NodeRecord & Partial<HeartbeatReply>>
  heartbeat(record: HeartbeatRecord, options?: CallOptions): Promise<NodeRecord & Partial<HeartbeatReply>>
  leave(node: string, options?: CallOptions): Promise<boolean>
  /** Never retried, because the token works only once. */
  exchangeBootstrap(
    bootstrapToken: string,
    options?: CallOptions & {node?: string | undefined},
  ): Promise<BootstrapGrant>
  grantLease(request: GrantRequest, options?: CallOptions): Promise<GrantedLease>
  renewLease(request: HeldRequest, options?: CallOptions): Promise<void>
  releaseLease(request: HeldRequest, options?: CallOptions): Promise<boolean>
  verifyLease(request: {lease: string; scopeKey: string}, options?: CallOptions): Promise<LeaseVerification>
  listLeases(options?: CallOptions): Promise<ExecLease[]>
  revokeLease(lease: string, options?: CallOptions): Promise<void>
  /** Skips a number of fencing tokens after a failover of the database of the control plane. */
  promoteStore(skip: number, options?: CallOptions): Promise<Promotion>
  setQuarantine(request: {node: string; quarantined: boolean}, options?: CallOptions): Promise<void>
  setMaintenance(request: MaintenanceRequest, options?: CallOptions): Promise<void>
  /** Retried only with an idempotency key. */
  deliver(request: DeliverRequest, options?: CallOptions): Promise<Delivered>
  inbox(request: InboxRequest, options?: CallOptions): Promise<StoredMessage[]>
  ack(request: AckRequest, options?: CallOptions): Promise<boolean>
  renewClaim(request: RenewClaimRequest, options?: CallOptions): Promise<void>
  listDead(request?: PageRequest, options?: CallOptions): Promise<DeadMessages>
  /** Accepts up to 256 messages; idempotent. */
  retryDead(messages: readonly number[], options?: CallOptions): Promise<DeadOutcome>
  dropDead(messages: readonly number[], options?: CallOptions): Promise<DeadOutcome>
  listAudit(request?: PageRequest, options?: CallOptions): Promise<AuditPage>
  queueStats(options?: CallOptions): Promise<QueueReport>
  /** Stores a file of up to 8 MiB for 24 h, or extends its storage. @returns its SHA-256 in hexadecimal */
  putBlob(bytes: Uint8Array, options?: CallOptions): Promise<string>
  /** Reads a file by its SHA-256 and checks the digest of the received bytes. */
  getBlob(sha256: string, options?: CallOptions): Promise<Buffer>
  /** Closes all connections; running requests fail. */
  close(): Promise<void>
}

const defaultTimeoutMs = 10_000
const defaultAnswerBytes = 16 << 20
/** Minimum of the default timeout for files, ms: 8 MiB take this long at 1.1 Mbit/s. */
const blobTimeoutMs = 60_000

/** Creates a client of a control plane. Loads the HTTP library on the first call. */
export function createMeshClient(options: MeshClientOptions): MeshClient {
  const {baseUrl, tokens, timeoutMs = defaultTimeoutMs, retry = true, random = Math.random} = options
  const transport = createTransport(options.maxAnswerBytes ?? defaultAnswerBytes)
  const {freshTokens, connectRetryMs} = options
  const caller: Caller = {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    tokens,
    freshTokens,
    timeoutMs,
    retry,
    connectRetryMs,
    transport,
    random,
  }
  const ask = (operation: MeshOperation, request: Call) => call(caller, operation, request)
  const send = async (operation: MeshOperation, request: Call) => {
    await ask(operation, request)
  }

  const pages = new NodePages()
  const ofBlob = {timeoutMs: Math.max(timeoutMs, blobTimeoutMs)}

  return {
    baseUrl: caller.baseUrl,
    timeoutMs,
    redact: (text) => redactor([...secretsOf(tokens), ...secretsOf(caller.tokens)])(text),
    health: (more) => send('health', {...more}),
    metrics: async (more) => (await ask('metrics', {...more})).text,
    async listNodes({limit, cursor, fields, labels, updatedSinceUnixMs} = {}, more) {
      const query = {
        limit,
        cursor,
        fields,
        labels: labels?.join(','),
        updated_since_unix_ms: updatedSinceUnixMs,
      }
      const {page: reply, ageMs} = await pages.get(query, (headers) => ask('list_nodes', {query, headers, ...more}))
      const registry = readNodes(reply)
      const answeredMs = registry.server_time_unix_ms ?? answeredAt(reply)
      const time = answeredMs === undefined ? undefined : answeredMs + ageMs
      return {...registry, ...(time === undefined ? {} : {server_time_unix_ms: time})}
    },
    join: async (record, more) => readObject(await ask('join', {body: record, ...more}), {id: 'string'}),
    heartbeat: async (record, more) => readObject(await ask('heartbeat', {body: record, ...more}), {id: 'string'}),
    leave: (id, more) => whetherFound(send('leave', {body: {id}, ...more})),
    async exchangeBootstrap(token, {node, ...more} = {}) {
      const body = {bootstrap_token: token, node_id: node}
      return readObject(await ask('bootstrap_exchange', {body, token, ...more}), {mesh_token: 'string'})
    },
    async grantLease({scopeKey, claimer}, more) {
      const body = {claimer_node_id: claimer, scope_key: scopeKey}
      return readObject(await ask('exec_lease_grant', {body, ...more}), {
        lease_id: 'string',
        expires_unix_ms: 'number',
      })
    },
    renewLease: (held, more) => send('exec_lease_renew', {body: heldBody(held), ...more}),
    releaseLease: (held, more) => whetherFound(send('exec_lease_release', {body: heldBody(held), ...more})),
    async verifyLease({lease, scopeKey}, more) {
      const reply = await ask('exec_lease_verify', {body: {lease_id: lease, scope_key: scopeKey}, ...more})
      return readObject(reply, {holder_node_id: 'string', expires_unix_ms: 'number'})
    },
    async listLeases(more) {
      const reply = await ask('exec_lease_list', {...more})
      return readObject<{leases: ExecLease[]}>(reply, {leases: leaseNeeds}).leases
    },
    revokeLease: (lease, more) => send('admin_exec_lease_revoke', {body: {lease_id: lease}, ...more}),
    promoteStore: async (skip, more) =>
      readObject(await ask('admin_store_promote', {body: {skip_tokens: skip}, ...more}), {fence_token: 'number'}),
    setQuarantine: ({node, quarantined}, more) =>
      send('admin_quarantine', {body: {node_id: node, quarantined}, ...more}),
    setMaintenance: ({node, maintenance, untilUnixMs, forMs}, more) =>
      send('admin_maintenance', {
        body: {node_id: node, maintenance, maintenance_until_unix_ms: untilUnixMs, maintenance_for_ms: forMs},
        ...more,
      }),
    async deliver(message, more) {
      const isKeyed = (message.idempotencyKey?.trim() ?? '') !== ''
      const reply = await ask('a2a_deliver', {body: messageBody(message), isKeyed, ...more})
      return readObject(reply, {message_id: 'number'})
    },
    async inbox({receiver, claimer, waitMs, ...query}, more) {
      const body = {
        receiver_agent_id: receiver,
        claimer_node_id: claimer,
        max_messages: query.maxMessages,
        before_message_id: query.beforeMessageId,
        wait_ms: waitMs,
        exclude_message_ids: query.excludeMessageIds,
        exclude_sender_agent_ids: query.excludeSenderAgentIds,
        message_types: query.messageTypes,
        order: query.order,
      }
      const reply = await ask('a2a_inbox', {body, waitMs, ...more})
      return readObject<{messages: StoredMessage[]}>(reply, {messages: messageNeeds}).messages
    },
    ack: ({receiver, message, claimer}, more) => {
      const body = {receiver_agent_id: receiver, message_id: message, claimer_node_id: claimer}
      return whetherFound(send('a2a_ack', {body, ...more}))
    },
    renewClaim: ({receiver, message, claimer}, more) => {
      const body = {receiver_agent_id: receiver, message_id: message, claimer_node_id: claimer}
      return send('a2a_lease_renew', {body, ...more})
    },
    listDead: async ({limit, cursor} = {}, more) =>
      readObject(await ask('a2a_dead_list', {query: {limit, cursor}, ...more}), {messages: messageNeeds}),
    retryDead: async (messages, more) =>
      readObject(await ask('a2a_dead_retry', {body: {message_ids: messages}, ...more}), deadOutcomeNeeds),
    dropDead: async (messages, more) =>
      readObject(await ask('a2a_dead_drop', {body: {message_ids: messages}, ...more}), deadOutcomeNeeds),
    listAudit: async ({limit, cursor} = {}, more) =>
      readObject(await ask('admin_audit_list', {query: {limit, cursor}, ...more}), {entries: auditNeeds}),
    queueStats: async (more) => readObject(await ask('queue_stats', {...more}), {pending_count: 'number'}),
    async putBlob(bytes, more) {
      const parameter = sha256Of(bytes)
      await send('blob_put', {body: bytes, parameter, ...ofBlob, ...more})
      return parameter
    },
    async getBlob(parameter, more) {
      const reply = await ask('blob_get', {parameter, ...ofBlob, ...more})
      requireDigest(reply, parameter)
      return reply.bytes
    },
    close: () => transport.close(),
  }
}

const leaseNeeds = {
  lease_id: 'string',
  scope_key: 'string',
  holder_node_id: 'string',
  expires_unix_ms: 'number',
} as const

const messageNeeds = {id: 'number', payload: 'string'} as const

const deadOutcomeNeeds = {message_ids: {}, not_found: {}} as const

const auditNeeds = {id: 'number', at_unix_ms: 'number', action: 'string'} as const

const heldBody = ({lease, claimer}: HeldRequest) => ({lease_id: lease, claimer_node_id: claimer})

const messageBody = (message: DeliverRequest) => ({
  sender_agent_id: message.senderAgentId,
  receiver_agent_id: message.receiverAgentId,
  message_type: message.messageType,
  payload: message.payload,
  idempotency_key: message.idempotencyKey,
  privacy_class: message.privacyClass,
  priority: message.priority,
  task_kind: message.taskKind,
  model_id: message.modelId,
  traceparent: message.traceparent,
  jwe_payload: message.jwePayload,
  requirements: message.requirements,
  payload_blake3_hex: message.payloadBlake3Hex,
  worker_ed25519_sig_b64: message.workerEd25519SigB64,
})

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** @throws MeshHttpError of the kind `io` */
function requireDigest({operation, status, bytes}: Reply, sha256: string): void {
  const found = sha256Of(bytes)
  if (found === sha256) return
  throw new MeshHttpError({
    kind: 'io',
    context: operation,
    status,
    cause: new SvcError('blob_damaged', {sha256, found}),
    isTransient: true,
  })
}

/** Returns false if the subject of a request does not exist. */
async function whetherFound(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof MeshHttpError && error.isMissing) return false
    throw error
  }
}
