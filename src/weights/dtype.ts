/** Element types of safetensors that are used here, with their sizes in bytes. */
const dtypes = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
} as const

export type Dtype = keyof typeof dtypes

export const isDtype = (name: string): name is Dtype => Object.hasOwn(dtypes, name)

export const dtypeBytes = (dtype: Dtype): number => dtypes[dtype]

/** The dtypes that convert to 32-bit floats without loss. */
export const widened = ['F32', 'F16', 'BF16'] as const

export type FloatDtype = (typeof widened)[number]

export const isWidened = (dtype: string): dtype is FloatDtype => widened.includes(dtype as FloatDtype)
