/// The song of the synthetic voice: a few vowels on a slow melody, repeated without end.
enum Song {
    /// A vowel, defined by the resonances of the mouth.
    struct Vowel: Sendable {
        /// The frequencies of the resonances in Hz, lowest first.
        var formantsHz: SIMD4<Double>

        // Formants of men's voices (G. E. Peterson and H. L. Barney, JASA 24, 1952), and a fourth that hardly changes.
        static let a = Vowel(formantsHz: [730, 1090, 2440, 3400])
        static let e = Vowel(formantsHz: [530, 1840, 2480, 3500])
        static let i = Vowel(formantsHz: [270, 2290, 3010, 3600])
        static let o = Vowel(formantsHz: [570, 840, 2410, 3300])
        static let u = Vowel(formantsHz: [300, 870, 2240, 3300])
    }

    /// A vowel on a note, and the silence after it.
    struct Syllable: Sendable {
        var vowel: Vowel
        var pitchHz: Double
        var seconds: Double
        var restSeconds = 0.0
    }

    /// One repetition of the song.
    static let syllables = [
        Syllable(vowel: .o, pitchHz: 164.8, seconds: 0.35),
        Syllable(vowel: .i, pitchHz: 196.0, seconds: 0.35),
        Syllable(vowel: .a, pitchHz: 220.0, seconds: 0.60),
        Syllable(vowel: .e, pitchHz: 196.0, seconds: 0.35),
        Syllable(vowel: .o, pitchHz: 164.8, seconds: 0.75, restSeconds: 0.45),
        Syllable(vowel: .u, pitchHz: 146.8, seconds: 0.35),
        Syllable(vowel: .e, pitchHz: 164.8, seconds: 0.35),
        Syllable(vowel: .a, pitchHz: 196.0, seconds: 0.50),
        Syllable(vowel: .i, pitchHz: 164.8, seconds: 0.35),
        Syllable(vowel: .o, pitchHz: 130.8, seconds: 0.95, restSeconds: 0.80),
    ]

    /// The length of one repetition.
    static let seconds = syllables.reduce(0) { $0 + $1.seconds + $1.restSeconds }

    /// The syllable at `seconds` after the beginning, and whether it sounds or has faded for the next one.
    static func moment(at seconds: Double) -> (syllable: Syllable, sounds: Bool) {
        var left = seconds.truncatingRemainder(dividingBy: Self.seconds)
        for syllable in syllables {
            if left < syllable.seconds { return (syllable, left < syllable.seconds - gapSeconds) }
            left -= syllable.seconds
            if left < syllable.restSeconds { return (syllable, false) }
            left -= syllable.restSeconds
        }
        return (syllables[0], false)
    }

    /// A consonant would take this last part of a syllable, so it is silent.
    private static let gapSeconds = 0.07
}
