import {homedir} from 'node:os'
import {join, resolve} from 'node:path'
import {resolveSettings, type SettingSources, type SettingWarning, workspaceSettings} from '../config/index.js'
import {isErrorOf, SvcError} from '../errors/index.js'
import {isWithin} from '../files/index.js'
import {journeyFragment} from '../journeys/index.js'
import {logger} from '../log/index.js'
import {readHost} from '../mesh/index.js'
import {MessageBus, type MessageContext, messageFragment, messageListener} from '../messages/index.js'
import {planFragment, planListener} from '../plans/index.js'
import {sessionFragment} from '../sessions/index.js'
import {type DatabaseKind, type Fragment, openStore, repositoryId, type Store} from '../store/index.js'
import {continueTasks, keptRepository, orchestratorFragment, taskListeners} from '../tasks/index.js'
import {telemetryFragment} from '../telemetry/index.js'
import {handOffGoal, workflowFragment, workflowListener} from '../workflow/index.js'
import type {OrchestratorConfig, WorkflowHandoff} from '../workspace/index.js'
import {type LiveSettings, readLiveSettings} from './live-settings.js'
import {operationLogListener} from './operation-log/listener.js'
import {operationLogFragment} from './operation-log/schema.js'

/** The open orchestrator of a workspace. Close it after use. */
export interface Orchestrator extends MessageContext {
  /** Warnings about settings, and about a fallback to another store. */
  readonly warnings: readonly SettingWarning[]
  readonly notices: readonly string[]
  /** Settings for the location of the store. */
  readonly places: StorePlaces
  readonly activeStore: ActiveStore
  /** The source of `config`, `probe`, `telemetry`, `groups`, `scopes` and `hiddenChecks`: a reload replaces all of them at once. */
  readonly live: {current: LiveSettings}
  close(): void
}

export interface OpenOptions {
  root: string
  sources: SettingSources
  /** Tables of other modules in the same store. */
  fragments?: readonly Fragment[]
  /** Starts the workflows to which goals are handed; default: those of the configured file. */
  startWorkflow?: Orchestrator['startWorkflow']
  now?: () => number
  random?: () => number
}

/**
 * Opens the orchestrator of a workspace with its settings, its store and the probed machine.
 * @throws the errors of `readLiveSettings`; orchestration_store_missing and the errors of stores
 */
export async function openOrchestrator({
  root,
  sources,
  fragments = [],
  startWorkflow,
  now = Date.now,
  random = Math.random,
}: OpenOptions): Promise<Orchestrator> {
  const {settings, warnings} = await readLiveSettings(root, sources)
  const {values: places, warnings: more} = resolveSettings(workspaceSettings, sources)
  const {store, active, notices} = await openJourneyStore(root, places, {config: settings.config, fragments})
  const live = {current: settings}
  const orchestrator: Orchestrator = {
    store,
    isKept: active !== 'none',
    activeStore: active,
    repositoryId: repositoryOf(store, {root, places, active}),
    root,
    places,
    live,
    get config() {
      return live.current.config
    },
    get probe() {
      // A long-running command queries the GPU after the workspace is open.
      const {vramMb} = readHost()
      return vramMb === undefined ? live.current.probe : {...live.current.probe, min_vram_mb: vramMb}
    },
    get telemetry() {
      return live.current.telemetry
    },
    get groups() {
      return live.current.groups
    },
    get scopes() {
      return live.current.scopes
    },
    get hiddenChecks() {
      return live.current.hiddenChecks
    },
    bus: new MessageBus(now, () => live.current.config),
    get startWorkflow() {
      if (startWorkflow !== undefined || live.current.config.planningWorkflowFile === undefined) return startWorkflow
      return (handoff: WorkflowHandoff) => handOffGoal(orchestrator, handoff)
    },
    listeners: [planListener, messageListener, operationLogListener, ...taskListeners, workflowListener],
    now,
    random,
    placementLog: logger('svc.orchestrator.placement'),
    warnings: [...warnings, ...more],
    notices,
    close: () => store.close(),
  }
  return orchestrator
}

/** A store of several workspaces, and a configured repository, have the id of the directory as it is now. */
function repositoryOf(
  store: Store,
  {root, places, active}: {root: string; places: StorePlaces; active: ActiveStore},
): string {
  const found = repositoryId(places.repositoryRoot ?? root)
  const isOfWorkspace = active === 'project' || (active === 'file' && isWithin(root, store.path))
  return isOfWorkspace && places.repositoryRoot === undefined ? keptRepository(store, found) : found
}

/** Settings for the location of the task store. */
export interface StorePlaces {
  /** `project`, `canonical` or the path of a file. */
  journeyStore: string
  journeyFallbackCanonical: boolean
  canonicalStore: string | undefined
  dataDir: string | undefined
  /** Directory from which the repository id is derived, if it is configured. */
  repositoryRoot?: string | undefined
}

interface Opened {
  store: Store
  active: ActiveStore
  notices: string[]
}

/** Where tasks are stored: in the workspace, in the store that a user's workspaces share, or in a named file. */
export type StoreMode = 'project' | 'canonical' | 'file'

export const storeMode = ({journeyStore}: Pick<StorePlaces, 'journeyStore'>): StoreMode =>
  journeyStore === 'project' || journeyStore === 'canonical' ? journeyStore : 'file'

/** Path of the task store. */
export const storePath = (root: string, places: Omit<StorePlaces, 'journeyFallbackCanonical'>): string =>
  pathsByMode[storeMode(places)](root, places)

const pathsByMode: Record<StoreMode, (root: string, places: Omit<StorePlaces, 'journeyFallbackCanonical'>) => string> =
  {
    project: projectStorePath,
    canonical: (_, places) => canonicalPath(places),
    file: (root, {journeyStore}) => resolve(root, journeyStore),
  }

export function projectStorePath(root: string): string {
  return join(root, '.svc', 'store.db')
}

/** The open store; `none` if it is in memory. */
export type ActiveStore = StoreMode | 'none'

function canonicalPath({canonicalStore, dataDir}: Pick<StorePlaces, 'canonicalStore' | 'dataDir'>): string {
  if (canonicalStore !== undefined) return resolve(canonicalStore)
  return join(dataDir === undefined ? defaultDataDir() : resolve(dataDir), 'svc.db')
}

function defaultDataDir(): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'svc')
  const base = process.env.XDG_DATA_HOME?.trim()
  return join(base ? base : join(homedir(), '.local', 'share'), 'svc')
}

interface Opening {
  config: OrchestratorConfig
  fragments: readonly Fragment[]
}

async function openJourneyStore(root: string, places: StorePlaces, opening: Opening): Promise<Opened> {
  const {config} = opening
  const primary = storeMode(places)
  const modes = new Set<StoreMode>(places.journeyFallbackCanonical ? [primary, 'canonical'] : [primary])
  const failures: SvcError[] = []
  for (const active of modes) {
    const path = pathsByMode[active](root, places)
    try {
      const store = await open(path, opening)
      const notices = failures.map(({message}) => `warning: ${message} Using ${path} instead.`)
      return {store, active, notices}
    } catch (error) {
      // An existing store that is temporarily inaccessible has tasks that another store does not have.
      if (!isErrorOf(error, 'store_unopenable')) throw error
      failures.push(error)
    }
  }
  const [failure] = failures as [SvcError]
  const {orchestrationV2Enabled: isV2, legacyOrchestrationFallback: mayFallBack} = config
  if (isV2 && !mayFallBack) throw new SvcError('orchestration_store_missing', {reason: failure.message})
  if (!isV2 || !places.journeyFallbackCanonical) throw failure
  const notice = `warning: ${failure.message} Using a store in memory; nothing is saved.`
  return {store: await open(':memory:', opening), active: 'none', notices: [notice]}
}

/** The tables of all modules. */
const ownFragments = [
  orchestratorFragment,
  sessionFragment,
  planFragment,
  workflowFragment,
  messageFragment,
  journeyFragment,
  operationLogFragment,
  telemetryFragment,
]

/** The workspace store as a file, with the tables of all modules. @param fragments tables of other modules */
export const storeDatabase = (fragments: readonly Fragment[]): DatabaseKind => ({
  name: 'store',
  fragments: [...ownFragments, ...fragments],
  continueFrom: continueTasks,
})

const open = (path: string, {config: {durability}, fragments}: Opening): Promise<Store> =>
  openStore(path, [...ownFragments, ...fragments], {durability})
