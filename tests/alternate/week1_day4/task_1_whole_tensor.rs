//! function: RmsNorm::forward
//! how: means of the whole tensor at once, broadcast back over the last axis
        assert_eq!(x.shape().last(), self.weight.shape().first(), "RmsNorm: x {:?}, weight {:?}", x.shape(), self.weight.shape());
        let axis = Axis(x.ndim() - 1);
        let mean_square = (x * x).mean_axis(axis).expect("rows are not empty").insert_axis(axis);
        let root = (mean_square + self.eps).mapv(f32::sqrt);
        x / &root * &self.weight
