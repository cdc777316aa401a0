import {existsSync} from 'node:fs'
import {readdir, rmdir} from 'node:fs/promises'
import {join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {holdLockFile} from '../../files/index.js'
import {logger} from '../../log/index.js'
import {startTimer, type Timer} from '../../process/index.js'
import type {SpeechService} from '../../speech/index.js'
import {ServedSession, type SessionClient, type SessionContext, type SessionOptions} from './session.js'
import {lastChange, removeSession} from './session-files.js'

/** Maximum number of live sessions, with a client and in all. */
const maxAttached = 32
const maxSessions = 64

/** Where sessions are kept, and for how long without a client. */
export interface SessionKeeping {
  folder: string
  ttlMs: number
}

const idForm = /^[\w-]{1,64}$/

/**
 * The live sessions of a server. With a folder, a session outlives its connections and the process: it is kept until it
 * ends, or until no client has been connected for its time to live.
 */
export class Sessions {
  readonly #service: SpeechService
  readonly #keeping: SessionKeeping | undefined
  readonly #onTaken: () => void
  /** The lock of the folder, once it is needed; undefined if another process has it. */
  #lock: ReturnType<typeof holdLockFile> | undefined
  /** Sessions of this process, also those that are being started. */
  readonly #open = new Map<string, Promise<ServedSession>>()
  /** Ends of the times to live of sessions without a client, also of those of earlier processes. */
  readonly #expiries = new Map<string, Timer>()
  #attached = 0
  #isClosed = false

  private constructor(service: SpeechService, keeping: SessionKeeping | undefined, onTaken: () => void) {
    this.#service = service
    this.#keeping = keeping
    this.#onTaken = onTaken
  }

  /**
   * Finds the sessions of an earlier process, and deletes those that have expired.
   * @param keeping undefined keeps nothing: a session ends with its connection
   * @param onTaken called if another process keeps its sessions in the folder; this one keeps none then
   */
  static async start(
    service: SpeechService,
    keeping: SessionKeeping | undefined,
    onTaken: () => void = () => undefined,
  ): Promise<Sessions> {
    const sessions = new Sessions(service, keeping, onTaken)
    // Without sessions of an earlier process, the folder is created when it is needed.
    if (keeping === undefined || !existsSync(keeping.folder) || !(await sessions.#keeps())) return sessions
    const entries = await readdir(keeping.folder, {withFileTypes: true})
    for (const {name} of entries.filter((entry) => entry.isDirectory() && idForm.test(entry.name))) {
      const left = (await lastChange(join(keeping.folder, name))) + keeping.ttlMs - Date.now()
      if (left <= 0) await removeSession(join(keeping.folder, name))
      else sessions.#expireLater(name, left)
    }
    return sessions
  }

  /** True if sessions are kept: there is a folder for them, and no other process uses it. */
  async #keeps(): Promise<boolean> {
    if (this.#keeping === undefined) return false
    if (this.#lock === undefined) {
      this.#lock = holdLockFile(join(this.#keeping.folder, 'lock'))
      if ((await this.#lock) === undefined) this.#onTaken()
    }
    return (await this.#lock) !== undefined
  }

  /** Number of sessions with a client. */
  get attached(): number {
    return this.#attached
  }

  /**
   * Refuses a connection before it is accepted. A language is checked against the model, which is loaded for that.
   * @throws overloaded, speech_session_not_found; what `SpeechService.load` throws
   */
  async admit(id: string | undefined, language?: string): Promise<void> {
    this.#check(id)
    if (language !== undefined) await this.requireLanguage(language)
  }

  /** Checks a language against the model, which is loaded for that. @throws what `SpeechService.load` throws */
  async requireLanguage(language: string): Promise<void> {
    await this.#service.load(new AbortController().signal, language)
  }

  #check(id: string | undefined): void {
    if (id !== undefined && !this.#open.has(id) && !this.#expiries.has(id))
      throw new SvcError('speech_session_not_found', {id: id.slice(0, 64)})
    if (this.#attached >= maxAttached || (id === undefined && this.#open.size + this.#expiries.size >= maxSessions))
      throw new SvcError('overloaded', {reason: `${this.#attached} live sessions are already open.`})
    this.#service.queue.refuseIfFull()
  }

  /**
   * Starts a session, or continues one, and loads the model if necessary. The caller attaches a client, and calls
   * `leave` afterwards.
   * @throws speech_session_not_found, overloaded; what `Session.create` and `Session.restore` throw
   */
  async enter(id: string | undefined, options: SessionOptions): Promise<ServedSession> {
    this.#check(id)
    this.#attached++
    try {
      if (id === undefined) return await this.#create(options)
      this.#expiries.get(id)?.stop()
      this.#expiries.delete(id)
      const opened = this.#open.get(id) ?? this.#restore(id)
      this.#open.set(id, opened)
      return await opened
    } catch (error) {
      this.#attached--
      throw error
    }
  }

  /** A client disconnects. @param isOver the client has everything, and does not come back */
  async leave(session: ServedSession, client: SessionClient, isOver: boolean): Promise<void> {
    this.#attached--
    if (!session.detach(client)) return
    const isKept = (await this.#keeps()) && !session.isEmpty && session.failed?.aborted !== true
    if (isOver || !isKept) await session.end()
    else if (!this.#isClosed) this.#expireLater(session.id, this.#keeping?.ttlMs ?? 0)
  }

  /** Stops all sessions. Those with something to resume stay in their files. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#expiries.values()) timer.stop()
    for (const opened of this.#open.values()) {
      const session = await opened.catch(() => undefined)
      if (session?.isEmpty || !(await this.#keeps())) await session?.end()
      else await session?.suspend()
    }
    await (await this.#lock)?.release()
    // Only if nothing is left in it.
    if (this.#lock !== undefined) await rmdir(this.#keeping?.folder ?? '').catch(() => undefined)
  }

  async #create(options: SessionOptions): Promise<ServedSession> {
    const session = await ServedSession.create(
      options,
      this.#context((await this.#keeps()) ? this.#keeping : undefined),
    )
    this.#open.set(session.id, Promise.resolve(session))
    return session
  }

  async #restore(id: string): Promise<ServedSession> {
    const folder = join(this.#keeping?.folder ?? '', id)
    try {
      return await ServedSession.restore(folder, this.#context(this.#keeping))
    } catch (error) {
      this.#open.delete(id)
      if (error instanceof SvcError) {
        this.#expireLater(id, this.#keeping?.ttlMs ?? 0)
        throw error
      }
      logger('speech_server').error({err: error}, 'the files of a session are incomplete')
      await removeSession(folder)
      throw new SvcError('speech_session_not_found', {id})
    }
  }

  #context(keeping: SessionKeeping | undefined): SessionContext {
    return {service: this.#service, folder: keeping?.folder, onEnd: ({id}) => this.#open.delete(id)}
  }

  #expireLater(id: string, ms: number): void {
    const timer = startTimer(() => void this.#expire(id), ms, {isWaitedFor: false})
    this.#expiries.set(id, timer)
  }

  async #expire(id: string): Promise<void> {
    this.#expiries.delete(id)
    const session = await this.#open.get(id)
    if (session?.isAttached) return
    // No client can enter it any more.
    this.#open.delete(id)
    if (session !== undefined) await session.end()
    else await removeSession(join(this.#keeping?.folder ?? '', id))
  }
}
