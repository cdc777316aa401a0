/** Phrases in comments, as global patterns that match one of several alternatives. */
const anyOf = (...alternatives: string[]) => new RegExp(alternatives.join('|'), 'gim')

const noun = `(?:code|file|methods?|functions?|implementation|class|logic|cases|body|details)`

export const prematureClaim = anyOf(
  '✅|🎉',
  String.raw`\bproduction[- ]ready\b`,
  String.raw`\b(?:fully|successfully|completely) implemented\b`,
  String.raw`\b100 ?% (?:complete|done|working|finished)\b`,
  String.raw`\ball tests (?:are )?(?:now )?pass(?:ing|ed)?\b(?! (?:if|when|only))`,
  String.raw`\bimplementation (?:is )?(?:now )?complete\b`,
  String.raw`\bworks (?:perfectly|flawlessly)\b`,
  String.raw`\b(?:everything|this) (?:now )?works as expected\b`,
)

export const elidedCode = anyOf(
  String.raw`\brest of (?:the |this |your )?(?:[\w-]{1,30} ){1,3}(?:remains?|stays|is|are) (?:the same|unchanged|as before)\b`,
  String.raw`\b(?:existing|remaining|previous|other) ${noun} (?:goes here|here|remains?|unchanged|stays)\b`,
  String.raw`\b${noun} (?:is |are )?(?:omitted|elided|left out)\b(?= here\b|\W{0,10}$)`,
  String.raw`\b(?:omitted|elided|shortened|truncated) for (?:brevity|clarity|simplicity)\b`,
  String.raw`(?:\.\.\.|…)\s?\(?(?:the )?(?:rest of|existing|remaining|other|more|previous) (?:the |your )?${noun}\b`,
)

export const simplifiedLogic = anyOf(
  String.raw`\bin (?:an? )?(?:real|actual|production|full|proper)(?:[- ]world)? (?:implementation|application|app|system|scenario)\b`,
  String.raw`\b(?:simplified|naive|dummy|mock|simulated) (?:implementation|logic|version) for now\b`,
  String.raw`\bfor now,? (?:we )?(?:just|simply|only) (?:return|log|ignore|pretend)`,
  String.raw`\bfor demonstration purposes\b`,
  String.raw`\bsimulat(?:e|es|ing) (?:the |an )?(?:api call|network (?:call|request|delay)|processing)\b`,
)

export const missingCode = anyOf(
  String.raw`\b(?:your|actual|real) (?:code|logic|implementation) (?:goes )?here\b`,
  String.raw`\b(?:add|implement|insert|put|write) (?:your|the|actual|real|more) (?:\w{1,20} )?(?:code|logic|implementation) here\b`,
  String.raw`\bleft as an exercise\b`,
  String.raw`\bimplement (?:this|me) (?:later|here)\b`,
  String.raw`\b(?:will|to) be implemented later\b`,
)
