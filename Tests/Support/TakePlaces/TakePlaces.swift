package import Takes

// Allows plain numbers for positions in a take, which are easier to read in tests.

extension Sidecar.Marker {
    package init(atFrame: Int64, note: String?) { self.init(atFrame: TakeFrame(atFrame), note: note) }
}

extension Sidecar.Gap {
    package init(atFrame: Int64, frames: Int64, cause: Cause) {
        self.init(atFrame: TakeFrame(atFrame), frames: frames, cause: cause)
    }
}

extension Sidecar.FilterChange {
    package init(atFrame: Int64, lowPassHz: Double?, slopeDBPerOctave: Int, highPassHz: Double?) {
        self.init(
            atFrame: TakeFrame(atFrame), lowPassHz: lowPassHz, slopeDBPerOctave: slopeDBPerOctave,
            highPassHz: highPassHz)
    }
}

extension Sidecar.Part {
    package init(
        file: String, unfilteredFile: String? = nil, firstFrame: Int64, frames: Int64, rateHz: Int, format: SampleFormat
    ) {
        self.init(
            file: file, unfilteredFile: unfilteredFile, firstFrame: TakeFrame(firstFrame), frames: frames,
            rateHz: rateHz, format: format)
    }
}
