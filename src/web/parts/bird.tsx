/** The myna of the name: the logo, and the picture where there is nothing yet. */
import { useId } from 'preact/hooks'

/** @param size of a side in pixels */
export function Bird({ size }: { size: number }) {
  const magma = useId()
  return (
    <svg class="bird" viewBox="0 0 64 64" width={size} height={size} aria-hidden="true">
      <linearGradient id={magma} x1="0" y1="1" x2="1" y2="0">
        <stop offset="0" stop-color="#6b1d80" />
        <stop offset="0.45" stop-color="#d8456c" />
        <stop offset="0.85" stop-color="#fb8761" />
      </linearGradient>
      <path
        fill={`url(#${magma})`}
        d="M4 56C5 40 13 28 22 20C27 13 32 9 39 9C48 9 54 15 54 23C54 39 45 50 30 51C21 51.6 15 53 4 56Z"
      />
      <path fill="#0b0708" opacity="0.28" d="M16 46C20 36 28 31 40 31C40 41 32 47 22 47.5Z" />
      <path fill="#ffb02e" d="M52.5 16.5L63 22.5L52 26Z" />
      <path fill="#ffc46b" d="M40 17C46 15 49 19 49 23C49 27 44 27 41 24C39 22 38 18 40 17Z" />
      <circle cx="43.5" cy="19.8" r="2.9" fill="#0b0708" />
      <circle cx="44.5" cy="18.9" r="0.9" fill="#fff" />
    </svg>
  )
}
