import Takes

/// Copies the kept channels from the frames of a card. Everything that it needs is allocated in `init`.
@safe struct ChannelPick: ~Copyable {
    /// Whether all channels are kept in their order: then no copy is needed.
    let isWhole: Bool
    /// Bytes of a frame as the card delivers it.
    let cardBytesPerFrame: Int
    private let sampleBytes: Int
    private let keptBytesPerFrame: Int
    private let keptCount: Int
    /// The offset of each kept channel in a frame of the card, in bytes.
    private let offsets: UnsafeMutablePointer<Int>

    init(_ layout: ChannelLayout, _ sampleFormat: SampleFormat) {
        isWhole = layout.isWhole
        sampleBytes = sampleFormat.bytesPerSample
        cardBytesPerFrame = layout.cardChannels * sampleBytes
        keptCount = layout.kept.count
        keptBytesPerFrame = keptCount * sampleBytes
        // Safe: allocated here with this size and freed in deinit. Only the first `keptCount` elements are accessed.
        unsafe offsets = .allocate(capacity: keptCount)
        for (index, number) in layout.kept.enumerated() {
            precondition((1...layout.cardChannels).contains(number))
            unsafe (offsets + index).initialize(to: (number - 1) * sampleBytes)
        }
    }

    deinit {
        unsafe offsets.deallocate()
    }

    /// Copies `count` frames of the card to memory for the same number of frames of the kept channels.
    @_noLocks @_noAllocation
    func copy(_ frames: UnsafeRawPointer, count: Int, to kept: UnsafeMutableRawPointer) {
        var index = 0
        while index < keptCount {
            // Safe: each sample lies within its frame, because `init` checked that the layout's numbers are channels of
            // the card.
            unsafe copyChannel(frames + offsets[index], count: count, to: kept + index &* sampleBytes)
            index &+= 1
        }
    }

    @inline(__always) @_noLocks @_noAllocation
    private func copyChannel(_ frames: UnsafeRawPointer, count: Int, to kept: UnsafeMutableRawPointer) {
        var (source, target) = unsafe (frames, kept)
        var left = count
        switch sampleBytes {
        case 2:
            while left > 0 {
                unsafe target.storeBytes(of: source.loadUnaligned(as: UInt16.self), as: UInt16.self)
                unsafe source += cardBytesPerFrame
                unsafe target += keptBytesPerFrame
                left &-= 1
            }
        case 3:
            while left > 0 {
                unsafe target.storeBytes(of: source.loadUnaligned(as: UInt16.self), as: UInt16.self)
                unsafe target.storeBytes(
                    of: source.load(fromByteOffset: 2, as: UInt8.self), toByteOffset: 2, as: UInt8.self)
                unsafe source += cardBytesPerFrame
                unsafe target += keptBytesPerFrame
                left &-= 1
            }
        default:
            while left > 0 {
                unsafe target.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
                unsafe source += cardBytesPerFrame
                unsafe target += keptBytesPerFrame
                left &-= 1
            }
        }
    }
}
