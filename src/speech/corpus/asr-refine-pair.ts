import type {AsrRefinePair} from '../../contracts/index.js'
import {appendJsonLine} from '../../files/index.js'

/**
 * Appends a recognised text and its correction to a corpus, as a line of the contract
 * `mens/schemas/asr_refine_pairs`. Creates the file and missing folders.
 * @param path the caller checks that it may be written
 * @throws disk_full, file_unwritable
 */
export const appendAsrRefinePair = (path: string, {noisy_text, corrected_text}: AsrRefinePair): Promise<void> =>
  appendJsonLine(path, {noisy_text, corrected_text})
