/** Shorter clauses state no fact, characters. */
const minClauseLength = 14

/**
 * The clauses of a text that look like statements of fact: not hedged ("it might work") and not an instruction ("then
 * open the file"). Markers of lists are removed.
 */
export const factualClauses = (text: string): string[] =>
  text
    .split(/[\n;!?]|\.(?=\s|$)/)
    .map((clause) => clause.trim().replace(/^[\s>*+-]*(?:\(?\d{1,9}[.):]\s+)?/, ''))
    .filter((clause) => clause.length >= minClauseLength && !isHedged(clause) && !isInstruction(clause))

const hedges =
  /(?<![\p{L}\p{N}_])(?:maybe|perhaps|might|may|could|likely|unlikely|probably|possibly|presumably|apparently|seems?|appears?|suspect|guess|believe|think|unclear|unsure|uncertain)(?![\p{L}\p{N}_])/iu
const isHedged = (clause: string): boolean => hedges.test(clause)

const instruction =
  /^(?:(?:first|then|next|finally|now|please),? )?(?:run|open|install|execute|click|use|see|go|ensure|enter|select|press|paste|try|copy|enable|disable|configure|verify|navigate|launch|download) /i
const isInstruction = (clause: string): boolean => instruction.test(clause)
