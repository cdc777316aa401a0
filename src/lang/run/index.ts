/** Runs checked programs on SQLite: closures made from the tree, one transaction per mutation, a log of changes. */
export {Application, type ApplicationOptions, connect, type Reply} from './application.js'
export {BadArgument, readArguments} from './arguments.js'
export {type Bound, binder, rowDecoder} from './bind.js'
export {callByName} from './call-by-name.js'
export {
  allChangesAfter,
  type Change,
  changeLogTable,
  changesAfter,
  dataVersion,
  lastChange,
  topicsOf,
} from './change-log.js'
export {Connection} from './connection.js'
export type {Limits, Ports, RequestFacts, Transcription} from './context.js'
export {type Decoder, decoder, TypeMismatch} from './decode.js'
export {type CheckedExpression, checkExpression} from './expression.js'
export {DatabaseFailure, databaseFailure, Failure, type FailureReason} from './failure.js'
export {pureFunction} from './pure.js'
export {BadRecord, type InsertRecord, readRecords, recordInserter} from './records.js'
export {display, equal, isObject, isTagged, type Objects, toJson, type Value} from './value.js'
export {loadVectors, needsVectors} from './vectors.js'
