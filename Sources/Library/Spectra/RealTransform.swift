import Glibc

/// The Fourier transform of four windows of real samples at once, one window in each lane of `SIMD4`.
///
/// With a window in each lane, no step of the transform moves numbers between lanes. The N samples of a window become
/// N/2 complex numbers, the even samples real and the odd ones imaginary. Their transform is computed in place by
/// decimation in frequency, with radix 4 and a last pass of radix 4 or 8, and then separated into N/2 + 1 bins
/// (Sorensen, Jones, Heideman and Burrus: Real-valued fast Fourier transform algorithms, IEEE Transactions on
/// Acoustics, Speech and Signal Processing 35, 1987). Bin k is at the frequency k · rate / N.
///
/// The window is Hann's, periodic. The scale is that of amplitudes: a sine with peaks of ±1 has the power 1, which is
/// 0 dB of full scale, in the bin at its frequency, and 0.25 in both neighbours. A constant of 1 has the power 4.
///
/// Not thread-safe. No method allocates.
@safe package final class RealTransform {
    package typealias Lanes = SIMD4<Float>

    /// The allowed numbers of samples in a window: the powers of two in this range.
    package static let lengths = 256...8192

    /// The number of samples in a window, N.
    package let length: Int
    /// N/2 complex numbers: the real parts, and in the same memory the imaginary parts.
    private let half: Int
    private let real: UnsafeMutablePointer<Lanes>
    private let imaginary: UnsafeMutablePointer<Lanes>
    /// Half of 4 kB. Without it, the eight numbers of a butterfly would compete for the same eight ways of a cache.
    private static let gap = 128
    /// A transform of more numbers than this (32 kB) is divided into four after its first pass, so that each of them stays
    /// in the first cache until it is complete.
    private static let cached = 1024
    /// N factors: Hann's window and the scale.
    private let window: UnsafeMutablePointer<Float>
    /// The turns of the passes, from the first to the last with turns. A pass over blocks of S numbers has S/4 times six
    /// numbers: cosine and sine of one, two and three turns.
    private let turns: UnsafeMutablePointer<Float>
    /// The turns that separate the bins up to N/4: their cosines, then their sines.
    private let separation: UnsafeMutablePointer<Float>
    /// The index of each complex result.
    private let places: UnsafeMutablePointer<Int32>

    /// - Parameter length: a power of two from 256 to 8192.
    package init(length: Int) {
        precondition(Self.lengths.contains(length) && length.nonzeroBitCount == 1)
        self.length = length
        half = length / 2
        unsafe real = .allocate(capacity: 2 * half + Self.gap)
        unsafe real.initialize(repeating: Lanes(), count: 2 * half + Self.gap)
        unsafe imaginary = real + half + Self.gap
        unsafe window = .allocate(capacity: length)
        // A sine's amplitude is divided between two frequencies, the mean of the window is one half, and the separation
        // does not halve its sums.
        for index in 0..<length {
            let hann = 0.5 - 0.5 * cos(2 * Double.pi * Double(index) / Double(length))
            unsafe window[index] = Float(hann * 2 / Double(length))
        }
        // Blocks of N/2, N/8 … numbers: fewer than 2/3 of N/2 quarters in total.
        unsafe turns = .allocate(capacity: 6 * half)
        var next = 0
        var size = half
        while size > 8 {
            for index in 0..<size / 4 {
                for factor in 1...3 {
                    let angle = -2 * Double.pi * Double(factor * index) / Double(size)
                    unsafe turns[next] = Float(cos(angle))
                    unsafe turns[next + 1] = Float(sin(angle))
                    next += 2
                }
            }
            size /= 4
        }
        unsafe separation = .allocate(capacity: half)
        for bin in 0..<half / 2 {
            let angle = -2 * Double.pi * Double(bin) / Double(length)
            unsafe separation[bin] = Float(cos(angle))
            unsafe separation[half / 2 + bin] = Float(sin(angle))
        }
        unsafe places = .allocate(capacity: half)
        for bin in 0..<half {
            var (rest, size, place) = (bin, half, 0)
            while size > 1 {
                let radix = size > 8 ? 4 : size
                size /= radix
                place += rest % radix * size
                rest /= radix
            }
            unsafe places[bin] = Int32(place)
        }
    }

    deinit {
        unsafe real.deallocate()
        unsafe window.deallocate()
        unsafe turns.deallocate()
        unsafe separation.deallocate()
        unsafe places.deallocate()
    }

    /// Transforms four windows.
    /// - Parameters:
    ///   - samples: numbers with full scale 1.
    ///   - starts: the index of the first sample of each window. Windows may overlap.
    package func transform(_ samples: Span<Float>, at starts: SIMD4<Int>) {
        let last = samples.count - length
        for lane in 0..<4 { precondition((0...max(0, last)).contains(starts[lane]) && last >= 0) }
        // Safe: each window lies within the samples.
        unsafe samples.withUnsafeBufferPointer { samples in
            guard let first = samples.baseAddress else { return }
            unsafe load(first, starts)
        }
        // A copy of the passes for blocks from 0 on is faster by an eighth.
        guard half > Self.cached else { return unsafe run(half, turns, 0) }
        unsafe quarter(half, turns, 0, half)
        let (size, next) = unsafe (half / 4, UnsafePointer(turns + 6 * (half / 4)))
        for start in stride(from: 0, to: half, by: size) { unsafe run(size, next, start) }
    }

    /// Raises each band of the result to the greatest power of its bins.
    /// - Parameters:
    ///   - bands: a power for each window in each band, from `first` on. Bin k belongs to band k >> `shift`, so there are
    ///     N/2 >> `shift` + 1 bands.
    ///   - shift: 2 to the power of this is the number of bins in a band.
    package func pool(into bands: inout [Lanes], at first: Int, shift: Int) {
        precondition((0..<16).contains(shift) && first >= 0 && first + (half &>> shift) < bands.count)
        // Safe: no band beyond that of the last bin is used.
        unsafe bands.withUnsafeMutableBufferPointer { bands in
            guard let start = bands.baseAddress else { return }
            unsafe separate(start + first, shift)
        }
    }

    // Safe in all of these: an index is less than the number of samples or complex numbers.

    /// Multiplies with the window, and transposes: from samples of one window to lanes of all.
    private func load(_ samples: UnsafePointer<Float>, _ starts: SIMD4<Int>) {
        let a = unsafe UnsafeRawPointer(samples + starts[0])
        let b = unsafe UnsafeRawPointer(samples + starts[1])
        let c = unsafe UnsafeRawPointer(samples + starts[2])
        let d = unsafe UnsafeRawPointer(samples + starts[3])
        let window = unsafe UnsafeRawPointer(self.window)
        let (real, imaginary) = unsafe (self.real, self.imaginary)
        var index = 0
        while index < length {
            let offset = 4 * index
            let factors = unsafe window.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
            let p = unsafe a.loadUnaligned(fromByteOffset: offset, as: Lanes.self) * factors
            let q = unsafe b.loadUnaligned(fromByteOffset: offset, as: Lanes.self) * factors
            let r = unsafe c.loadUnaligned(fromByteOffset: offset, as: Lanes.self) * factors
            let s = unsafe d.loadUnaligned(fromByteOffset: offset, as: Lanes.self) * factors
            let place = index / 2
            unsafe real[place] = Lanes(p[0], q[0], r[0], s[0])
            unsafe imaginary[place] = Lanes(p[1], q[1], r[1], s[1])
            unsafe real[place + 1] = Lanes(p[2], q[2], r[2], s[2])
            unsafe imaginary[place + 1] = Lanes(p[3], q[3], r[3], s[3])
            index += 4
        }
    }

    /// Transforms a block of `count` numbers.
    @inline(__always)
    private func run(_ count: Int, _ turns: UnsafePointer<Float>, _ start: Int) {
        var (size, turns) = unsafe (count, turns)
        while size > 8 {
            unsafe quarter(size, turns, start, count)
            unsafe turns += 6 * (size / 4)
            size /= 4
        }
        if size == 8 { eights(start, count) } else { fours(start, count) }
    }

    /// A pass of radix 4 over blocks of `size` numbers, `count` numbers in total.
    @inline(__always)
    private func quarter(_ size: Int, _ turns: UnsafePointer<Float>, _ start: Int, _ count: Int) {
        let (real, imaginary) = unsafe (self.real + start, self.imaginary + start)
        let quarter = size / 4
        for index in 0..<quarter {
            let turn = unsafe turns + 6 * index
            let (c1, s1) = unsafe (Lanes(repeating: turn[0]), Lanes(repeating: turn[1]))
            let (c2, s2) = unsafe (Lanes(repeating: turn[2]), Lanes(repeating: turn[3]))
            let (c3, s3) = unsafe (Lanes(repeating: turn[4]), Lanes(repeating: turn[5]))
            var block = index
            while block < count {
                let re = unsafe real + block
                let im = unsafe imaginary + block
                let (ar, ai) = unsafe (re[0], im[0])
                let (br, bi) = unsafe (re[quarter], im[quarter])
                let (cr, ci) = unsafe (re[2 * quarter], im[2 * quarter])
                let (dr, di) = unsafe (re[3 * quarter], im[3 * quarter])
                let (er, ei) = (ar + cr, ai + ci)
                let (fr, fi) = (ar - cr, ai - ci)
                let (gr, gi) = (br + dr, bi + di)
                let (hr, hi) = (br - dr, bi - di)
                unsafe re[0] = er + gr
                unsafe im[0] = ei + gi
                let (xr, xi) = (fr + hi, fi - hr)
                unsafe re[quarter] = xr * c1 - xi * s1
                unsafe im[quarter] = xr * s1 + xi * c1
                let (yr, yi) = (er - gr, ei - gi)
                unsafe re[2 * quarter] = yr * c2 - yi * s2
                unsafe im[2 * quarter] = yr * s2 + yi * c2
                let (zr, zi) = (fr - hi, fi + hr)
                unsafe re[3 * quarter] = zr * c3 - zi * s3
                unsafe im[3 * quarter] = zr * s3 + zi * c3
                block += size
            }
        }
    }

    /// The last pass over blocks of four, which needs no turns.
    @inline(__always)
    private func fours(_ start: Int, _ count: Int) {
        let (real, imaginary) = unsafe (self.real + start, self.imaginary + start)
        var block = 0
        while block < count {
            let re = unsafe real + block
            let im = unsafe imaginary + block
            let (er, ei) = unsafe (re[0] + re[2], im[0] + im[2])
            let (fr, fi) = unsafe (re[0] - re[2], im[0] - im[2])
            let (gr, gi) = unsafe (re[1] + re[3], im[1] + im[3])
            let (hr, hi) = unsafe (re[1] - re[3], im[1] - im[3])
            unsafe re[0] = er + gr
            unsafe im[0] = ei + gi
            unsafe re[1] = fr + hi
            unsafe im[1] = fi - hr
            unsafe re[2] = er - gr
            unsafe im[2] = ei - gi
            unsafe re[3] = fr - hi
            unsafe im[3] = fi + hr
            block += 4
        }
    }

    /// The last pass over blocks of eight, whose turns are multiples of an eighth of a circle.
    @inline(__always)
    private func eights(_ start: Int, _ count: Int) {
        let (real, imaginary) = unsafe (self.real + start, self.imaginary + start)
        let diagonal = Lanes(repeating: Float(0.5.squareRoot()))
        var block = 0
        while block < count {
            let re = unsafe real + block
            let im = unsafe imaginary + block
            // The even results.
            do {
                let (ar, ai) = unsafe (re[0] + re[4], im[0] + im[4])
                let (br, bi) = unsafe (re[1] + re[5], im[1] + im[5])
                let (cr, ci) = unsafe (re[2] + re[6], im[2] + im[6])
                let (dr, di) = unsafe (re[3] + re[7], im[3] + im[7])
                let (pr, pi) = unsafe (re[0] - re[4], im[0] - im[4])
                let (qr, qi) = unsafe (re[1] - re[5], im[1] - im[5])
                let (rr, ri) = unsafe (re[2] - re[6], im[2] - im[6])
                let (sr, si) = unsafe (re[3] - re[7], im[3] - im[7])
                let (er, ei) = (ar + cr, ai + ci)
                let (fr, fi) = (ar - cr, ai - ci)
                let (gr, gi) = (br + dr, bi + di)
                let (hr, hi) = (br - dr, bi - di)
                unsafe re[0] = er + gr
                unsafe im[0] = ei + gi
                unsafe re[2] = fr + hi
                unsafe im[2] = fi - hr
                unsafe re[4] = er - gr
                unsafe im[4] = ei - gi
                unsafe re[6] = fr - hi
                unsafe im[6] = fi + hr
                // The odd results: one, two and three eighths of a turn first.
                let (tr, ti) = ((qr + qi) * diagonal, (qi - qr) * diagonal)
                let (vr, vi) = ((si - sr) * diagonal, (sr + si) * -diagonal)
                let (kr, ki) = (pr + ri, pi - rr)
                let (lr, li) = (pr - ri, pi + rr)
                let (mr, mi) = (tr + vr, ti + vi)
                let (nr, ni) = (tr - vr, ti - vi)
                unsafe re[1] = kr + mr
                unsafe im[1] = ki + mi
                unsafe re[3] = lr + ni
                unsafe im[3] = li - nr
                unsafe re[5] = kr - mr
                unsafe im[5] = ki - mi
                unsafe re[7] = lr - ni
                unsafe im[7] = li + nr
            }
            block += 8
        }
    }

    /// Separates the bins k and N/2 − k, which the same two complex results contain.
    private func separate(_ bands: UnsafeMutablePointer<Lanes>, _ shift: Int) {
        let (real, imaginary) = unsafe (self.real, self.imaginary)
        let (cosines, sines, places) = unsafe (separation, separation + half / 2, self.places)
        let two = Lanes(repeating: 2)
        do {
            let sum = unsafe (real[0] + imaginary[0]) * two
            let difference = unsafe (real[0] - imaginary[0]) * two
            unsafe Self.raise(&bands[0], sum * sum)
            unsafe Self.raise(&bands[half &>> shift], difference * difference)
            let place = unsafe Int(places[half / 2])
            let (zr, zi) = unsafe (real[place] * two, imaginary[place] * two)
            unsafe Self.raise(&bands[(half / 2) &>> shift], zr * zr + zi * zi)
        }
        var (low, high) = (1, half - 1)
        while low < high {
            let (c, s) = unsafe (Lanes(repeating: cosines[low]), Lanes(repeating: sines[low]))
            let (z, y) = unsafe (Int(places[low]), Int(places[high]))
            let (zr, zi) = unsafe (real[z], imaginary[z])
            let (yr, yi) = unsafe (real[y], imaginary[y])
            let (er, ei) = (zr + yr, zi - yi)
            let (dr, di) = (zr - yr, zi + yi)
            let (or, oi) = (c * di + s * dr, s * di - c * dr)
            let (ur, ui) = (er + or, ei + oi)
            let (vr, vi) = (er - or, ei - oi)
            unsafe Self.raise(&bands[low &>> shift], ur * ur + ui * ui)
            unsafe Self.raise(&bands[high &>> shift], vr * vr + vi * vi)
            low += 1
            high -= 1
        }
    }

    @inline(__always)
    private static func raise(_ band: inout Lanes, _ power: Lanes) {
        band = band.replacing(with: power, where: power .> band)
    }
}
