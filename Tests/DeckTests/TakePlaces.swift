import Takes

// Places in a take, where a number is easier to read.

extension Sidecar.Marker {
    init(atFrame: Int64, note: String?) { self.init(atFrame: TakeFrame(atFrame), note: note) }
}

extension Sidecar.Gap {
    init(atFrame: Int64, frames: Int64, cause: Cause) {
        self.init(atFrame: TakeFrame(atFrame), frames: frames, cause: cause)
    }
}

extension Sidecar.FilterChange {
    init(atFrame: Int64, lowPassHz: Double?, slopeDBPerOctave: Int, highPassHz: Double?) {
        self.init(
            atFrame: TakeFrame(atFrame), lowPassHz: lowPassHz, slopeDBPerOctave: slopeDBPerOctave,
            highPassHz: highPassHz)
    }
}
