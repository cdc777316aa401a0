import type {Logger} from '../log/index.js'
import type {EventWatch, OperationBase} from '../operations/index.js'
import type {GroupCommit} from './group-commit.js'
import type {Methods} from './methods.js'
import type {RoundRobin} from './round-robin.js'

/** Shared by all connections of a process. */
export interface Service {
  readonly base: OperationBase
  readonly methods: Methods
  readonly roundRobin: RoundRobin
  readonly watch: EventWatch
  readonly group: GroupCommit
  readonly log: Logger
  readonly shutDown: () => void
}
