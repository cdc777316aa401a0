/** Patterns of functions that do nothing, for code in which strings are runs of quotation marks. */

const keyword = String.raw`\b(?:function|func|fn|fun|void|def)\b[ \t*]{0,8}(?:\([^()]{0,80}\)[ \t]{0,8})?[A-Za-z_$][\w$]{0,80}`
const modifiers = String.raw`(?:(?:public|private|protected|internal|static|async|override|final|export|default)[ \t]{1,8}){0,6}`
const notNames = String.raw`(?!(?:if|elseif|for|foreach|while|until|when|switch|match|catch|with|using|lock|return|function|constructor|noop)\b)`
/** Methods are only recognised at the start of a line; names that start with a capital letter are constructors. */
const method = String.raw`^[ \t]*${modifiers}${notNames}[a-z_$][\w$]{0,80}`
const parameters = String.raw`\(([^()]{0,200})\)`
const result = String.raw`(?:[ \t]{0,8}(?:->|:)?[ \t]{0,8}[\w$][^{};()\n]{0,80}(?<![|&]\s?))?`
const signature = String.raw`(?:${keyword}|${method})(?:<[^<>()]{0,80}>)?[ \t]{0,8}${parameters}${result}\s{0,20}`
const constant = String.raw`(?:null|undefined|nil|None|NULL|nullptr|true|false|True|False|-?\d{1,20}(?:\.\d{1,20})?|"{2,100}|\{\s{0,20}\}|\[\s{0,20}\]|Ok\(\(\)\))`

const notAbstract = String.raw`(?<!@(?:[\w.]{1,40}\.)?(?:abstractmethod|overload)[ \t\r]{0,8}\n)`
const pythonSignature = String.raw`${notAbstract}^([ \t]*)(?:async[ \t]{1,8})?def[ \t]{1,8}\w{1,80}[ \t]{0,8}${parameters}[^:\n]{0,100}:["\s]*`
/** The statement ends its line, and the next line that is not blank is not indented more than the `def`. */
const endOfPythonBody = String.raw`[ \t]*\r?$(?!\s*\n\1[ \t]+\S)`

const emptyEnd = String.raw`\{\s{0,200}\}`
const constantEnd = String.raw`\{\s{0,200}(?:return\s{1,8})?${constant}\s{0,8};?\s{0,200}\}`

export const emptyBraces = new RegExp(emptyEnd)
export const emptyBody = new RegExp(signature + emptyEnd, 'gm')
export const constantBody = new RegExp(constantEnd)

/** Group 1 is the list of parameters. */
export const hollowFunction = new RegExp(signature + constantEnd, 'gm')

export const emptyPython = new RegExp(String.raw`${pythonSignature}(?:pass|\.\.\.)${endOfPythonBody}`, 'gm')

/** Group 2 is the list of parameters. */
export const hollowPython = new RegExp(
  String.raw`${pythonSignature}return(?:[ \t]+${constant})?${endOfPythonBody}`,
  'gm',
)

/** True if a list of parameters has one that the body is expected to use. */
export const hasParameters = (list: string): boolean =>
  list
    .split(',')
    .map((parameter) => parameter.trim())
    .some((parameter) => parameter !== '' && !/^(?:_|&?(?:mut )?(?:self|cls|this)\b)/.test(parameter))
