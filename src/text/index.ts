/** Tokenizers, chat templates, and incremental detokenization with stop strings. */
export {
  type ChatMessage,
  ChatTemplate,
  chatml,
  type DeclaredTemplate,
  declaredTemplate,
  declaredToolTemplate,
  mapMessage,
  mapVariables,
  type TemplateVariables,
  type ToolCall,
} from './chat-template.js'
export {OutputText, specialsOf} from './output-text.js'
export type {SpecialTokens} from './special-tokens.js'
export {createTokenizer, type EncodeOptions, type Tokenizer, TooManyTokens} from './tokenizer.js'
