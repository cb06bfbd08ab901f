//! The same request with other values of the target.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    request::{BodySpec, RequestSpec},
    template,
};

impl RequestSpec {
    /// Returns the request with some values of the target replaced, by their names.
    #[must_use]
    pub fn with_values(&self, other: &dyn Fn(&str) -> Option<Value>) -> Self {
        let fill = |name: &str| other(name.strip_prefix("target.")?);
        let changed = |value: &Value| template::expand(value, &fill).unwrap_or_else(|_| value.clone());
        let all = |named: &[(String, Value)]| -> Vec<(String, Value)> {
            named.iter().map(|(name, value)| (name.clone(), changed(value))).collect()
        };
        let path = changed(&Value::from(self.path.as_str()));
        let body = match &self.body {
            BodySpec::None => BodySpec::None,
            BodySpec::Json(value, repeats) => BodySpec::Json(Arc::new(changed(value)), all(repeats)),
            BodySpec::Raw(text) => BodySpec::Raw(changed(text)),
        };
        Self {
            path: path.as_str().map_or_else(|| self.path.clone(), str::to_owned),
            query: all(&self.query),
            headers: Arc::new(all(&self.headers)),
            body,
            ..self.clone()
        }
    }
}
