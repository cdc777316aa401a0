import type {AudioWarning} from '../../audio/index.js'
import type {ConstraintWarning} from '../model/model.js'
import type {LevelWarning} from './quiet-recording.js'

/** A text that is probably wrong. */
export interface RecognitionWarning {
  code: 'recognition_unreliable'
  message: string
}

/** A problem of a recording or of its text, or a constraint that was not applied. */
export type SpeechWarning = AudioWarning | ConstraintWarning | RecognitionWarning | LevelWarning
