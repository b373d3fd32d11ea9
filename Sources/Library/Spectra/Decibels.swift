/// Powers as 8-bit values in steps of 1 dB.
///
/// The value v stands for v − 200 dB of full scale, rounded to the nearest. The quantisation noise of 24 bits has
/// −172 dB in a bin of 1024 samples, and −181 dB in one of 8192, so that everything a recorder can store is above the
/// value 0, which is silence. No integers exceed +6 dB, the value 206. The rest is for floating-point sound that
/// exceeds full scale.
public enum Decibels {
    /// The value of 0 dB of full scale.
    public static let fullScale = 200

    /// The values of four powers. A power that is not a number has the value 255.
    @inline(__always)
    static func values(of powers: SIMD4<Float>) -> SIMD4<UInt8> {
        // Safe: all bits of a number are another number.
        let bits = unsafe unsafeBitCast(powers, to: SIMD4<UInt32>.self)
        // 2²³ + an integer is the integer in the lowest bits of a Float.
        let bias = SIMD4<Float>(repeating: 8_388_608)
        let exponents = unsafe unsafeBitCast((bits &>> 23) | 0x4b00_0000, to: SIMD4<Float>.self) - bias
        let mantissas = unsafe unsafeBitCast((bits & 0x007f_ffff) | 0x3f80_0000, to: SIMD4<Float>.self)
        // The logarithm of the mantissa by a parabola: its error is less than 0.03 dB.
        let parts = mantissas - 1
        let logarithms = exponents - 127 + parts + parts * (2 - mantissas) * 0.34
        var values = logarithms * 3.010_299_9 + Float(fullScale)
        values.replace(with: 0, where: values .< 0)
        values.replace(with: 255, where: values .> 255)
        let rounded = unsafe unsafeBitCast(values + bias, to: SIMD4<UInt32>.self)
        return SIMD4<UInt8>(truncatingIfNeeded: rounded)
    }
}
