import {Tiktoken} from 'js-tiktoken/lite'
import ranks from 'js-tiktoken/ranks/o200k_base'

const encoding = new Tiktoken(ranks)

/** Number of tokens of a text in the vocabulary o200k_base. */
export const countTokens = (text: string): number => encoding.encode(text).length
