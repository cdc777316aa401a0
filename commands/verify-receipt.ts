import {readFile} from 'node:fs/promises'
import {Args} from '@oclif/core'
import {
  baseFlags,
  chatFlags,
  chooseLanguageModel,
  chosenDefaults,
  formatTable,
  HubCommand,
  ignoreConfigKeyFlag,
  inGroup,
  namedAdapterFlag,
  namedAdapters,
  readTextInput,
  settingFlags,
  showQuantising,
  withProgress,
  wrapped,
} from '../src/cli/index.js'
import {engineSettings} from '../src/config/index.js'
import type {VerifyReceiptV1} from '../src/contracts/index.js'
import {Exit, SvcError} from '../src/errors/index.js'
import type {Exchange} from '../src/serve/index.js'

export default class VerifyReceipt extends HubCommand<typeof VerifyReceipt> {
  static override summary = 'Check what a reply was computed from.'
  static override description =
    `Every reply of svc serve has a receipt in the header x-svc-receipt. This command computes its parts again from the files of a
model, of which it reads all bytes, and says which part differs. The sampling options and the seed are only checked with the request.

A file can have the receipt, or a JSON object with the receipt, the request and the reply: {"receipt": "svc1:…", "request": {…},
"reply": {…}}. The reply is an object, or the text of a stream. The request is then run again, alone, and the reply is compared
byte for byte. Pass the flags with which the server was started. Nothing is sent to another machine.

Exits with status 0 if nothing differs, 4 if a part of the receipt differs, 1 if only the reply does, and 2 if the receipt cannot be
read.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> exchange.json --model ./runs/r7',
    '<%= config.bin %> <%= command.id %> "$RECEIPT" --model owner/name --json',
    '<%= config.bin %> <%= command.id %> exchange.json --model ./my-model --adapter tone=./runs/r7',
  ]
  static override args = {
    receipt: Args.string({
      description: 'Receipt, or file with a receipt or an exchange; - reads standard input.',
      required: true,
    }),
  }
  static override flags = {
    adapter: namedAdapterFlag('Adapter that the server had by name; may be repeated. The one of the receipt is used.', [
      'base',
      'no-adapter',
    ]),
    ...inGroup('model', {...baseFlags, 'ignore-config-key': ignoreConfigKeyFlag}),
    ...chatFlags,
    ...settingFlags(engineSettings, 'model', 'threads', 'precision', 'numCtx', 'maxTokens', 'temperature'),
  }

  async run(): Promise<void> {
    const adapters = await namedAdapters(this.flags.adapter)
    const exchange = await this.#exchange()
    const {verifyReceipt} = await import('../src/serve/index.js')
    const {model: configured, ...engine} = this.settings(engineSettings)
    const cacheFolder = await this.cacheFolder()
    const notice = (text: string) => this.output.notice(text)
    const model = await chooseLanguageModel(configured, this.workspace.root, cacheFolder, notice)
    const {topK: _, topP: __, ...chosen} = this.chosenSettings(engineSettings)
    const {precision} = chosen
    const report = await withProgress('Checking', !this.flags.quiet, async () =>
      verifyReceipt({
        exchange,
        model,
        adapters,
        precision: precision === 'auto' ? undefined : precision,
        signal: this.signal,
        server: {
          ...engine,
          address: {host: '127.0.0.1', port: 0},
          keys: [],
          origins: [],
          allowedHosts: [],
          servesOthers: false,
          findModels: async () => [],
          memoryLimit: Number.POSITIVE_INFINITY,
          fallback: engine,
          defaults: await chosenDefaults(this.flags, chosen),
          cacheFolder,
          base: this.flags.base,
          baseOnly: this.flags['no-adapter'],
          chatTemplate: this.flags['chat-template'],
          ignoreConfigKeys: this.flags['ignore-config-key'],
          slots: 1,
          queueLimit: 8,
          keepAlive: 'forever',
          product: this.config.version,
          log: this.logOptions(),
          onProgress: showQuantising,
        },
      }),
    )
    const differing = report.parts.filter(({state}) => state === 'different')
    const result: VerifyReceiptV1 = {
      receipt: String(exchange.receipt),
      result:
        differing.length > 0 ? 'parts_differ' : report.reply?.state === 'different' ? 'reply_differs' : 'verified',
      parts: report.parts.map((part) => ({...part})),
      reply: report.reply,
    }
    await this.output.result(result, (value) => formatReport(value, process.stdout.columns))
    if (result.result !== 'verified') this.exit(exitOf[result.result])
  }

  /** @throws receipt_malformed, exchange_invalid; the errors of reading a file */
  async #exchange(): Promise<Exchange> {
    const {receipt} = this.args
    const {parseExchange} = await import('../src/serve/index.js')
    if (receipt.startsWith('svc1:')) return parseExchange(receipt)
    if (receipt === '-') return parseExchange(await readTextInput(this.signal))
    const text = await readFile(receipt, 'utf8').catch((error: unknown) => {
      throw SvcError.from(error)
    })
    return parseExchange(text)
  }
}

const exitOf = {parts_differ: Exit.conflict, reply_differs: Exit.failed} as const

const sentences: Readonly<Record<VerifyReceiptV1['result'], string>> = {
  verified: 'verified',
  parts_differ: 'The reply was not computed from this.',
  reply_differs: 'The parts are the same, but the reply is not.',
}

function formatReport({result, parts, reply}: VerifyReceiptV1, width?: number): string {
  const rows = parts.map(({part, state, stated, found}) => [
    part,
    state,
    stated,
    found === stated ? '' : (found ?? '-'),
  ])
  const table = formatTable(['PART', 'STATE', wrapped('RECEIPT'), wrapped('COMPUTED')], rows, {width})
  const place = reply?.difference
  const compared =
    reply === null
      ? ''
      : place == null
        ? 'The reply is the same, byte for byte.\n'
        : `The reply differs from byte ${place.byte} of choice ${place.choice} on.${variance(parts)}\n`
  return `${table}\n${compared}${sentences[result]}\n`
}

const variance = (parts: VerifyReceiptV1['parts']): string =>
  parts.some(({part, stated}) => part === 'bytes' && stated === 'batch_variant')
    ? ' The receipt says batch_variant: equal bytes are not certain.'
    : ''
