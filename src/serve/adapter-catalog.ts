import {readdir, realpath, stat} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {SvcError} from '../errors/index.js'
import {isFolder, isWithin} from '../files/index.js'
import type {AdapterOptions, AdapterSource} from '../llm/index.js'
import {logger} from '../log/index.js'
import {type AdapterDirectory, openAdapter, requireFit, sha256Of} from '../weights/index.js'
import type {ServedModel} from './served-model.js'

export interface CatalogOptions {
  /** Adapters that stay in memory. */
  pinned: readonly {name: string; folder: string}[]
  /** Directory whose subdirectories are adapters. Clients can add only what is below it. */
  folder: string | undefined
  /** Memory for adapters, bytes. */
  maxBytes: number
  /** Unknown keys of PEFT that may be present. */
  ignoreConfigKeys?: readonly string[] | undefined
}

/** An adapter of the server. */
export interface KnownAdapter {
  source: AdapterSource
  /** SHA-256 of its weights, 64 hexadecimal digits. */
  digest: string
  /** Size of its weights, bytes. */
  bytes: number
  modifiedAt: Date
  /** Sizes and times of its files: every write changes them. */
  stamp: string
  directory: AdapterDirectory
}

const adapterName = /^\w[\w.-]{0,127}$/

/** The adapters of the first model, by the names of which clients request them. */
export class AdapterCatalog {
  readonly #options: CatalogOptions
  readonly #known = new Map<string, KnownAdapter>()
  #base: ServedModel | undefined

  private constructor(options: CatalogOptions) {
    this.#options = options
  }

  /**
   * Reads the headers of all adapters. A subdirectory that cannot be served is left out, and logged.
   * @throws adapter_name_invalid; what `openAdapter` throws for a pinned one
   */
  static async open(options: CatalogOptions): Promise<AdapterCatalog> {
    const catalog = new AdapterCatalog(options)
    for (const {name, folder} of options.pinned) catalog.#known.set(name, await catalog.#read(name, folder, true))
    for (const name of await subfolders(options.folder)) {
      if (catalog.#known.has(name)) continue
      const known = await catalog.#read(name, join(options.folder as string, name), false).catch(leaveOut(name))
      if (known !== undefined) catalog.#known.set(name, known)
    }
    return catalog
  }

  /**
   * Checks the adapters against the model.
   * @throws adapter_name_taken; tensor_missing and adapter_mismatch for a pinned one
   */
  attach(base: ServedModel): void {
    this.#base = base
    if (this.#known.get(base.name)?.source.isPinned) throw new SvcError('adapter_name_taken', {adapter: base.name})
    for (const [name, {directory, source}] of this.#known)
      try {
        this.#requireFree(name)
        requireFit(directory, base.tensors, base.name)
      } catch (error) {
        if (source.isPinned) throw error
        leaveOut(name)(error)
        this.#known.delete(name)
      }
  }

  /** What the engine of the model needs to know. */
  get engineOptions(): AdapterOptions {
    const sources = [...this.#known.values()].map(({source}) => source)
    return {maxBytes: this.#options.maxBytes, pinned: sources.filter(({isPinned}) => isPinned)}
  }

  get all(): KnownAdapter[] {
    return [...this.#known.values()]
  }

  /**
   * The adapter with a name, with its files as they are now.
   * @returns undefined if there is none
   * @throws adapter_refused if its files have changed, and cannot be used
   */
  async find(name: string): Promise<KnownAdapter | undefined> {
    const known = this.#known.get(name)
    if (known === undefined) return undefined
    const {folder, isPinned} = known.source
    const stamp = await stampOf(known.directory).catch(() => undefined)
    if (stamp === known.stamp) return known
    const read = await this.#check(name, folder, isPinned)
    // It may have been replaced or removed meanwhile.
    if (this.#known.get(name) !== known) return this.find(name)
    this.#known.set(name, read)
    return read
  }

  /**
   * Adds an adapter, or replaces the one with its name.
   * @param path below the directory of adapters; relative to it, or absolute
   * @returns the adapter, and the one that it replaces
   * @throws adapters_read_only, adapter_name_invalid, adapter_name_taken, adapter_pinned, adapter_outside, adapter_refused
   */
  async add(name: string, path: string): Promise<{added: KnownAdapter; replaced: KnownAdapter | undefined}> {
    const folder = this.#requireFolder()
    this.#requireFree(name)
    if (this.#known.get(name)?.source.isPinned) throw new SvcError('adapter_pinned', {adapter: name})
    const [root, place] = await Promise.all([realpath(folder), realpath(resolve(folder, path)).catch(() => undefined)])
    if (place === undefined || place === root || !isWithin(root, place))
      throw new SvcError('adapter_outside', {path, folder})
    const added = await this.#check(name, place, false)
    const replaced = this.#known.get(name)
    this.#known.set(name, added)
    return {added, replaced}
  }

  /** Removes an adapter; its files stay. @throws adapters_read_only, adapter_not_served, adapter_pinned */
  remove(name: string): KnownAdapter {
    this.#requireFolder()
    const known = this.#known.get(name)
    if (known === undefined) throw new SvcError('adapter_not_served', {adapter: name})
    if (known.source.isPinned) throw new SvcError('adapter_pinned', {adapter: name})
    this.#known.delete(name)
    return known
  }

  /** Reads an adapter, and checks it against the model. @throws adapter_refused */
  async #check(name: string, folder: string, isPinned: boolean): Promise<KnownAdapter> {
    try {
      const known = await this.#read(name, folder, isPinned)
      if (this.#base !== undefined) requireFit(known.directory, this.#base.tensors, this.#base.name)
      return known
    } catch (error) {
      const {message} = SvcError.from(error)
      throw new SvcError('adapter_refused', {adapter: name, reason: message}, {cause: error})
    }
  }

  async #read(name: string, folder: string, isPinned: boolean): Promise<KnownAdapter> {
    if (!adapterName.test(name)) throw new SvcError('adapter_name_invalid', {adapter: name})
    const open = () => openAdapter(folder, this.#options.ignoreConfigKeys)
    const directory = await open()
    const {size, mtime} = await stat(directory.file)
    const stamp = await stampOf(directory)
    const source = {name, folder, key: directory.key, isPinned}
    const digest = await sha256Of(directory.file)
    // If the files were replaced meanwhile, the digest may be that of others.
    if ((await open()).key !== directory.key) return this.#read(name, folder, isPinned)
    return {source, digest, bytes: size, modifiedAt: mtime, stamp, directory}
  }

  #requireFree(name: string): void {
    if (!adapterName.test(name)) throw new SvcError('adapter_name_invalid', {adapter: name})
    if (name === this.#base?.name) throw new SvcError('adapter_name_taken', {adapter: name})
  }

  #requireFolder(): string {
    const {folder} = this.#options
    if (folder === undefined) throw new SvcError('adapters_read_only', {})
    return folder
  }
}

async function stampOf({file, manifest}: AdapterDirectory): Promise<string> {
  const found = await Promise.all([file, manifest].map((each) => stat(each)))
  return found.map(({size, mtimeMs}) => `${size} ${mtimeMs}`).join(' ')
}

const leaveOut =
  (adapter: string) =>
  (err: unknown): undefined => {
    logger('serve').warn({err, adapter}, 'An adapter cannot be served.')
  }

async function subfolders(folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return []
  const found: string[] = []
  for (const name of (await readdir(folder)).sort()) if (await isFolder(join(folder, name))) found.push(name)
  return found
}
