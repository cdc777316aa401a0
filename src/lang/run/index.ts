/** Runs checked programs on SQLite: compilation to closures, one transaction per mutation, a change log. */
export {Application, connect, type Reply} from './application.js'
export {type Bound, binder, rowDecoder} from './bind.js'
export {callByName} from './call-by-name.js'
export {
  allChangesAfter,
  appDatabase,
  type Change,
  changeLogTable,
  changesAfter,
  dataVersion,
  eventId,
  lastChange,
  type Received,
  type ResumePoint,
  readEventId,
  resumePoint,
  topicsOf,
} from './change-log.js'
export {Connection} from './connection.js'
export type {Ports, RequestFacts, Transcription} from './context.js'
export {type Decoder, decoder, TypeMismatch} from './decode.js'
export {checkExpression} from './expression.js'
export {DatabaseFailure, Failure} from './failure.js'
export {JsonFault, parseJsonText} from './json-text.js'
export {pureFunction, pureValue} from './pure.js'
export {BadRecord, danglingReference, type InsertRecord, readRecords, recordInserter} from './records.js'
export {display, isObject, isTagged, toJson, type Value} from './value.js'
export {loadVectors, needsVectors} from './vectors.js'
