import {stemmer} from 'stemmer'

/** Words that say nothing about the subject of a question. */
const stopWords = new Set(
  `a about all also am an and any are as at be because been but by can cannot could did do does doing don done for from get
got had has have having he her here him his how i if in into is isn it its just let like make me mine my need no not of off
on one only or other our out own please put really s should so some such svc t than thanks that the their them then there
these they thing things this those to too try trying up us use used using very want wants was way we were what when where
which while who why will with without won would you your`.split(/\s+/),
)

/**
 * Common words of everyday language. Documentation need not contain them to fit a question: a question with `docker` is about
 * something else, one with `yesterday` may not be.
 */
const everyday =
  `actually after afterwards again already always another anything around automatic automatically away back bad because
before begin best better between big bit both break broke broken bring call can care certain check clean clear close closed
come comes complain complains completely correct current day days desktop difference different disappear does down during
each early easy else end enough ever every everybody everyone everything exact exactly existing explain far few fifty finally
find fine first five follow forever full gave gives give given go goes going gone good great guy half hang hangs happen
happened happening happens happy hard heavy help hello hi hour hours hundred idea instead interested interview
interviews job jobs keep keeps kind knew know known laptop large last later least left less long longer look looks lose lot
lots machine many match maybe mean means middle might minute minutes moment more most much must name near necessary need
needs never new next nice night nothing notice now number often ok old once open order ourselves outside over part past pc
people perhaps person place plan plain point possible problem properly proper question quick quickly quite rather reach ready
real really reason refuse refuses remember rest right room run running safe same save saw say says second seconds see seem
seems seen several short show side simple simply since sit sits slow small somebody somehow someone something sometimes
somewhere soon sort stand start started still strange stuck stuff such suddenly sure take takes talk tell ten thank thanks
think thousand three through time times today together told tomorrow too took top twice two type typed understand
understands until upon usual usually value week weeks weird went whatever whenever whether whole word work working works
world worse write wrong year years yesterday yet yourself`.split(/\s+/)

const commonWords = new Set(everyday.map((each) => stemmer(each)))

/** Whether a term is a word of everyday language. */
export const isCommon = (term: string): boolean => commonWords.has(term)

/** What a term that is in `count` of all passages says about one of them. */
export const rarityOf = (all: number, count: number): number => Math.log(1 + all / (1 + count))

/** Words of everyday language, and words that say nothing, as they are written. */
export const everydayWords: ReadonlySet<string> = new Set([...stopWords, ...everyday])

/** Names of other products. A question with one that a passage lacks is about something else. */
const otherProducts = new Set(
  `amazon android ansible apache apple aws azure bitcoin blender bluetooth chatgpt chrome copilot css discord django docker dropbox
eclipse elasticsearch excel facebook figma firefox flask git github gitlab gmail golang google gpu grafana gradle hadoop html icloud
instagram intellij ios iphone java jenkins jira jupyter kafka kotlin kubectl kubernetes linkedin linux mac macos maven
midjourney minecraft mongodb mysql netflix nginx notion numpy outlook pandas perl photoshop php pip poetry powerpoint
powershell pytest python pytorch rails react redis ruby rust salesforce scala selenium shopify siri slack spark spotify spring
sql sqlserver steam swift teams telegram tensorflow terraform tiktok twitter ubuntu unity vim vue webpack whatsapp wifi windows
wordpress xbox xcode youtube zoom`.split(/\s+/),
)

/** Whether a word of a question names another product. */
export const isOtherProduct = (word: string): boolean => otherProducts.has(word)

/** Names such as `port_in_use`, `--max-ms` or `Svc.toml`, and words. */
const word = /[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu

/** A term of a text, and the word that it is made from. */
export interface Term {
  term: string
  word: string
}

/** Words whose stems are those of other words: a computer does not compute, and is a machine. */
const sameAs: Readonly<Record<string, string>> = {
  computer: 'machine',
  computers: 'machines',
  laptop: 'machine',
  laptops: 'machines',
  pc: 'machine',
  pcs: 'machines',
  mic: 'microphone',
  mics: 'microphones',
}

/** The terms of a text: every name as a whole, and the stems of all words in it. */
export function typedTerms(text: string): Term[] {
  return [...text.toLowerCase().matchAll(word)].flatMap(([name]) => {
    const parts = name.split(/[._-]/)
    const stems = parts
      .filter((part) => !stopWords.has(part))
      .map((part) => ({term: stemmer(sameAs[part] ?? part), word: part}))
    return parts.length > 1 ? [{term: name, word: name}, ...stems] : stems
  })
}

/** The terms of a text, with repeats. */
export const termsOf = (text: string): string[] => typedTerms(text).map(({term}) => term)

/** Words that people use, each with those that the documentation uses for it. */
const synonyms: Readonly<Record<string, string>> = {
  add: 'create apply',
  agent: 'worker',
  api: 'http route endpoint',
  app: 'program',
  ask: 'chat generate question',
  audio: 'recording file',
  backup: 'back',
  bash: 'shell completion',
  begin: 'start',
  budget: 'limit attention',
  build: 'create',
  calling: 'call tool',
  cancel: 'stop',
  captions: 'subtitle',
  change: 'set edit',
  chat: 'generate conversation assistant',
  choose: 'select set',
  cheap: 'cost',
  claude: 'mcp client',
  code: 'status',
  cloud: 'network offline',
  cluster: 'mesh machine node',
  codex: 'mcp client',
  colour: 'color terminal',
  concurrent: 'parallel',
  config: 'configuration setting',
  configure: 'configuration setting',
  connect: 'connection client',
  convert: 'transcribe',
  copy: 'backup',
  crash: 'durability recover killed',
  create: 'add init submit write',
  cron: 'schedule',
  cursor: 'mcp client',
  damaged: 'corrupt',
  database: 'db table program',
  debug: 'log',
  delete: 'remove prune rm',
  dictate: 'listen speech microphone',
  dictation: 'listen speech microphone',
  directory: 'folder',
  disk: 'cache space',
  download: 'pull',
  edit: 'change update',
  editor: 'lsp mcp language',
  embed: 'vector',
  enable: 'set start',
  endpoint: 'route http',
  error: 'fail code explain',
  erase: 'delete remove prune',
  execute: 'run',
  export: 'output write',
  fail: 'error',
  fast: 'speed performance thread',
  fetch: 'pull download',
  find: 'list search',
  finetune: 'adapter train lora',
  fix: 'repair',
  folder: 'directory',
  forget: 'delete prune',
  free: 'delete prune',
  freeze: 'pause maintenance',
  function: 'tool',
  gpt: 'openai model',
  graphql: 'endpoint query',
  hear: 'listen microphone',
  help: 'explain',
  hide: 'redact secret quiet',
  history: 'log event oplog',
  home: 'data directory',
  import: 'load',
  install: 'npm setup',
  internet: 'network offline',
  job: 'task',
  key: 'token',
  kill: 'stop cancel',
  language: 'translate',
  launch: 'start run',
  limit: 'maximum max budget',
  link: 'connect join',
  live: 'stream listen event',
  llm: 'language model generate',
  load: 'open import',
  log: 'event',
  login: 'token authentication',
  lora: 'adapter',
  lost: 'recover restore',
  machine: 'node',
  memory: 'ram precision',
  mistake: 'error undo',
  money: 'cost budget',
  monitor: 'status metrics',
  name: 'rename',
  network: 'mesh',
  night: 'schedule cron',
  nightly: 'schedule cron',
  offline: 'network',
  open: 'serve start',
  order: 'priority',
  parallel: 'concurrency',
  password: 'token secret',
  pause: 'stop',
  permission: 'approve role access',
  periodic: 'schedule cron',
  phone: 'mobile',
  photo: 'image',
  pick: 'choose select',
  picture: 'image',
  postgres: 'postgresql',
  preference: 'setting',
  print: 'output',
  priority: 'urgent order',
  private: 'redact local network',
  prompt: 'generate text',
  proxy: 'tls network',
  quantize: 'precision',
  query: 'select find',
  queue: 'submit task',
  quick: 'speed performance',
  quit: 'stop end',
  ram: 'memory',
  read: 'list show',
  record: 'microphone',
  recording: 'audio transcribe',
  recover: 'restore resume',
  redo: 'undo',
  regex: 'regular pattern expression',
  relaunch: 'restart resume',
  remember: 'session memory',
  remote: 'server mesh machine',
  remove: 'delete rm prune',
  rename: 'was',
  repeat: 'schedule retry',
  report: 'status doctor',
  require: 'gate evidence accept',
  reset: 'delete restore',
  restart: 'resume start',
  resume: 'continue',
  retrieve: 'search',
  revert: 'undo restore',
  rights: 'role token',
  run: 'start execute serve',
  safe: 'guarantee secret security',
  save: 'output write store',
  say: 'speech listen',
  schedule: 'cron times start',
  schema: 'table structured',
  script: 'shell command exec',
  search: 'find',
  secure: 'token tls secret',
  security: 'token tls secret',
  see: 'show list',
  send: 'submit message',
  server: 'serve',
  service: 'systemd server daemon',
  setting: 'configuration',
  setup: 'install init',
  share: 'mesh server',
  show: 'print list',
  shutdown: 'stop',
  size: 'memory limit',
  slow: 'speed performance',
  sound: 'audio recording',
  speak: 'listen speech',
  speaker: 'diarization',
  speech: 'transcribe audio listen',
  spend: 'cost budget',
  spoken: 'speech',
  sql: 'ddl query schema',
  start: 'run serve',
  stop: 'cancel end',
  storage: 'store disk',
  subtitles: 'srt vtt',
  swap: 'switch replace',
  talk: 'speech chat listen',
  team: 'mesh people',
  temp: 'cache',
  test: 'check verify',
  timeout: 'deadline time limit',
  token: 'secret key',
  train: 'adapter corpus',
  transcript: 'transcribe text',
  transcription: 'transcribe',
  translate: 'language',
  type: 'struct',
  typescript: 'library client',
  undo: 'reverse restore',
  uninstall: 'remove delete',
  unload: 'keep_alive stop',
  unsubscribe: 'leave',
  update: 'upgrade change migrate',
  upgrade: 'version update migrate',
  verify: 'check',
  video: 'recording ffmpeg subtitle',
  view: 'show list',
  voice: 'speech listen',
  vote: 'approve doubt',
  vscode: 'editor lsp mcp',
  wait: 'follow',
  watch: 'follow event',
  web: 'http browser page',
  websocket: 'realtime',
  whisper: 'speech model transcribe',
  worker: 'agent claim node',
  wrong: 'error doubt',
}

const stemmed = new Map(
  Object.entries(synonyms).map(([word, others]) => [stemmer(word), others.split(' ').map((other) => stemmer(other))]),
)

/** Other words for a term. */
export const synonymsOf = (term: string): readonly string[] => stemmed.get(term) ?? []
